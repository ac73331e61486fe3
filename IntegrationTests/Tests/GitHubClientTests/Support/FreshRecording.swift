import Foundation
import PipelineTesting
import TestSupport

/// A recording that the program has made of the `StandIn`.
struct FreshRecording {
    /// The commands that the bundled recording contains.
    static let commands = [
        "repos octo-org", "issues octo-org/hello-world", "rate",
        "download octo-org/hello-world hello-world.zip --to FILE",
    ]
    let har: Data
    /// The results of the commands, while they were recorded.
    private(set) var results: [String: Shell.Result] = [:]

    init() async throws {
        let (standIn, shell) = (try StandIn(), try Shell())
        let file = shell.folder.file("github.har")
        for command in Self.commands {
            results[command] = try await shell.run("\(command) --server \(standIn.server)", "--record", file.path)
        }
        let text = try String(contentsOf: file, encoding: .utf8)
            .replacing(standIn.server, with: "https://api.github.example")
            .replacing(standIn.files.url.absoluteString, with: "https://files.github.example")
        har = try Self.normalized(Data(text.utf8))
    }

    /// Returns a recording without the parts that depend on the connection and on the traits of the package.
    ///
    /// The dates are those of the manual clock.
    static func normalized(_ har: Data) throws -> Data {
        func normalized(_ value: Any) -> Any {
            if let values = value as? [Any] { return values.map(normalized) }
            guard var members = value as? [String: Any] else { return value }
            if members["name"] as? String == "Accept-Encoding" { members["value"] = "gzip, deflate" }
            for name in ["_chunks", "connection"] { members[name] = nil }
            return members.mapValues(normalized)
        }
        let value = normalized(try JSONSerialization.jsonObject(with: har))
        let data = try JSONSerialization.data(withJSONObject: value, options: [.sortedKeys, .withoutEscapingSlashes])
        // One line for each entry.
        return Data(String(decoding: data, as: UTF8.self).replacing("{\"cache\":", with: "\n{\"cache\":").utf8)
    }
}
