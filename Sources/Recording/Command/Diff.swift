import ArgumentParser
import Foundation
import HTTPTypes
import PipelineRecording

/// Compares two recordings.
struct Diff: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Compares two recordings; ends with 1 when they differ.",
        discussion: """
            Entries with one method and URL are paired in their order. Times are not compared. Lines begin with - for what only the \
            first has, + for what only the second has, and ~ for what differs, followed by a line for each part.
            """
    )

    @Argument(help: "The first recording.", completion: .file(extensions: ["har"]))
    var first: String

    @Argument(help: "The second recording.", completion: .file(extensions: ["har"]))
    var second: String

    @Option(name: .customLong("ignore"), help: ArgumentHelp("A header field that may differ.", valueName: "field"))
    var ignored: [String] = []

    @OptionGroup var secrets: SecretOptions

    func run() throws {
        let names = try ignored.map { text in
            guard let name = HTTPField.Name(text) else { throw ValidationError("\(text) is no name of a header field") }
            return name
        }
        let entries = try [first, second].map { RecordedEntry.all(of: try HARFile(contentsOf: URL(filePath: $0))) }
        let difference = RecordingDifference(
            entries[0],
            entries[1],
            ignoring: Set(names),
            redactor: try secrets.redactor()
        )
        for line in difference.lines { print(line) }
        if !difference.changes.isEmpty { throw ExitCode(1) }
    }
}
