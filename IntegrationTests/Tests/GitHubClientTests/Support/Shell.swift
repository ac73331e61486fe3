import ArgumentParser
import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@testable import github

/// Runs commands in the process of the tests, with a folder of its own and time that does not pass.
struct Shell {
    struct Result: Equatable {
        var output = ""
        var error = ""
        var exitCode: Int32 = 0
        /// Both texts in order, as a terminal shows them.
        var transcript = ""

        mutating func write(_ text: String, to stream: WritableKeyPath<Result, String>) {
            self[keyPath: stream] += text
            transcript += text
        }
    }

    let folder: TemporaryFolder
    var clock = ManualClock()
    var token: String?
    var isTerminal = false
    var isCachedOnDisk = true
    var transport: (any Transport)?

    init(transport: (any Transport)? = nil) throws {
        folder = try TemporaryFolder()
        self.transport = transport
    }

    /// Runs the command of a line and of arguments that may contain spaces; `FILE` becomes a file in the folder.
    func run(_ line: String, _ further: String...) async throws -> Result { try await run(line, further) }

    func run(_ line: String, _ further: [String]) async throws -> Result {
        let result = Mutex(Result())
        let printer = Printer(
            isTerminal: isTerminal,
            output: { [folder] text in
                result.withLock { $0.write(text.replacing(folder.url.path, with: ""), to: \.output) }
            },
            error: { text in result.withLock { $0.write(text, to: \.error) } }
        )
        let environment = ProgramEnvironment(
            printer: printer,
            token: token,
            cacheFolder: isCachedOnDisk ? folder.file("cache") : nil,
            configuration: ProviderConfiguration(clock: clock, random: .seeded(1)),
            backoff: .immediate,
            makeTransport: { [transport] in transport ?? AsyncHTTPClientTransport() }
        )
        let words = line.split(separator: " ").map { $0 == "FILE" ? folder.file("FILE").path : String($0) }
        let arguments = words + further
        let command = try #require(try GitHub.parseAsRoot(arguments) as? any ClientCommand)
        let code = await command.run(in: environment)
        return result.withLock { result in
            result.exitCode = code.rawValue
            return result
        }
    }
}
