import ArgumentParser
import Pipeline

/// A command that sends requests.
protocol ClientCommand: AsyncParsableCommand {
    var options: ClientOptions { get }

    /// Sends the requests and prints the result; called a second time for the bundled recording.
    func show(_ client: Client) async throws
}

extension ClientCommand {
    func run() async throws {
        throw await run(in: .process)
    }

    /// Runs the command, and prints an error as a line on standard error.
    func run(in environment: ProgramEnvironment) async -> ExitCode {
        do {
            do {
                try await run(from: options.source, in: environment)
            } catch let error as PipelineError where isReplaceable && error.code.meansNoNetwork {
                environment.printer.note("no network (\(error.code)); this is the bundled recording, of made-up data")
                try await run(from: .replay(of: nil), in: environment)
            }
            return .success
        } catch {
            let failure = Failure(error)
            environment.printer.note(failure.line)
            return failure.exitCode
        }
    }

    /// Whether the bundled recording can replace the network; a server that the user has chosen must be reachable.
    private var isReplaceable: Bool { options.source == .network && options.server == nil }

    private func run(from source: ClientOptions.Source, in environment: ProgramEnvironment) async throws {
        let client = try Client(options, from: source, in: environment)
        do {
            try await show(client)
        } catch {
            try await client.finish()
            throw error
        }
        try await client.finish()
    }
}
