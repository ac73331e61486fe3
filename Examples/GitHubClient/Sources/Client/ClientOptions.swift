#if Examples
import ArgumentParser
import Foundation

/// The options of all commands.
struct ClientOptions: ParsableArguments {
    @Option(help: "The server, for example of GitHub Enterprise. (default: \(GitHubAPI.server))")
    var server: String?

    @Option(
        help: "Replay responses from a HAR file instead of sending requests.",
        completion: .file(extensions: ["har"])
    )
    var replay: String?

    @Option(help: "Record in a HAR file. Requests that the file contains are replayed from it.")
    var record: String?

    @Flag(help: "Use the bundled recording of made-up data, as without a network.")
    var offline = false

    @Flag(name: .shortAndLong, help: "Log requests and responses, also those from the cache, to standard error.")
    var verbose = false

    func validate() throws {
        if [server != nil, replay != nil, offline].filter(\.self).count > 1 {
            throw ValidationError("--server, --replay and --offline exclude each other; keep one.")
        }
        if record != nil, replay != nil || offline {
            throw ValidationError("--record needs the network; omit --replay and --offline.")
        }
    }

    /// Where the responses come from.
    enum Source: Equatable {
        case network
        case recording(into: URL)
        case replay(of: URL)
        case bundledRecording
    }

    var source: Source {
        if offline { return .bundledRecording }
        if let replay { return .replay(of: URL(filePath: replay)) }
        if let record { return .recording(into: URL(filePath: record)) }
        return .network
    }
}
#endif
