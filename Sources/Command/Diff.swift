#if Tools
import ArgumentParser
import Foundation
import HTTPTypes
import PipelineRecording

/// A command that compares two recordings.
struct Diff: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Compares two recordings and exits with 1 if they differ.",
        discussion: """
            Entries with the same method and URL are compared in their order. Times are ignored. A line that begins with - is an entry \
            that only the first recording has, and a line with + an entry that only the second has. A line with ~ is a pair of entries \
            that differ; the indented lines below it list the differences, those of JSON bodies by path.
            """
    )

    @Argument(help: "The first recording.", completion: .file(extensions: ["har"]))
    var first: String

    @Argument(help: "The second recording.", completion: .file(extensions: ["har"]))
    var second: String

    @Option(
        name: .customLong("ignore"),
        help: ArgumentHelp("The name of a header field to ignore; may be repeated.", valueName: "field")
    )
    var ignored: [String] = []

    @OptionGroup var display: DisplayOptions

    func run() throws {
        let names = try ignored.map { text in
            guard let name = HTTPField.Name(text) else {
                throw ValidationError("--ignore is \(text), which is not the name of a header field such as Date")
            }
            return name
        }
        let tool = HARTool(redactor: try display.redactor())
        try Har.run {
            let lines = try tool.differences(
                between: URL(filePath: first),
                and: URL(filePath: second),
                ignoring: Set(names)
            )
            for line in lines { print(line) }
            if !lines.isEmpty { throw ExitCode(1) }
        }
    }
}
#endif
