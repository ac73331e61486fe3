import ArgumentParser
import Foundation

/// The options of all commands.
struct ClientOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The server. (default: \(GitHubAPI.server))", valueName: "url"))
    var server: String?

    @Option(help: ArgumentHelp("Replay the responses of a HAR file.", valueName: "file"), completion: .file())
    var replay: String?

    @Option(
        help: ArgumentHelp("Record in a HAR file, and replay requests that it contains.", valueName: "file"),
        completion: .file()
    )
    var record: String?

    @Flag(help: "Replay the bundled recording of made-up data, as without a network.")
    var offline = false

    @Flag(name: .shortAndLong, help: "Log requests and responses, also those from the cache, to standard error.")
    var verbose = false

    func validate() throws {
        let sources = ["--offline": offline, "--replay": replay != nil, "--record": record != nil].filter(\.value)
        if sources.count > 1 || offline && server != nil {
            throw ValidationError("Of --offline, --replay and --record, choose one; --offline has its own server.")
        }
    }

    /// Where the responses come from.
    enum Source: Equatable {
        case network
        case recording(into: URL)
        /// A recording; `nil` for the bundled one.
        case replay(of: URL?)
    }

    var source: Source {
        if offline { return .replay(of: nil) }
        if let replay { return .replay(of: URL(filePath: replay)) }
        if let record { return .recording(into: URL(filePath: record)) }
        return .network
    }
}
