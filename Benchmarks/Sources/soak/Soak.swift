import Foundation

/// Makes calls against a server that responds correctly, incorrectly, or not at all.
///
/// Each call must end as predicted from the seed.
///
/// Ends with exit code 1 if a figure fails, and with 2 for unknown options.
@main
struct Soak {
    static func main() async throws {
        var arguments = Array(CommandLine.arguments.dropFirst())
        let isServer = arguments.first == "serve"
        if isServer { arguments.removeFirst() }
        let options: Options
        do {
            options = try Options(arguments)
        } catch let error as Options.Invalid {
            print("\(error.text)\n\n\(Options.usage)")
            exit(2)
        }
        if options.isHelp {
            print(Options.usage)
            exit(0)
        }
        if isServer { try Server.run(seed: options.seed) }
        signal(SIGPIPE, SIG_IGN)
        #if canImport(Glibc)
        ProcessFigures.steadyAllocator()
        #endif
        var holds = true
        for run in options.isQuick ? Options.quick(seed: options.seed) : [options] {
            let figures = try await Run(run).figures()
            Report.write(figures)
            fflush(nil)
            holds = holds && !figures.checks.contains { $0.verdict == .fails }
        }
        exit(holds ? 0 : 1)
    }
}
