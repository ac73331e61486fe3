#if HARCommand
import ArgumentParser
import Foundation
import HTTPTypes
import PipelineRecording

/// A command that compares two recordings.
struct Diff: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Compares two recordings; ends with 1 if they differ.",
        discussion: """
            Entries with the same method and URL are paired in their order. Times are not compared. A line that begins with - is an entry \
            of the first recording only, one with + of the second only. A line with ~ is a pair that differs; the lines below it name the \
            parts, in JSON bodies by path.
            """
    )

    @Argument(help: "The first recording.", completion: .file(extensions: ["har"]))
    var first: String

    @Argument(help: "The second recording.", completion: .file(extensions: ["har"]))
    var second: String

    @Option(name: .customLong("ignore"), help: ArgumentHelp("A header field to ignore.", valueName: "field"))
    var ignored: [String] = []

    @OptionGroup var display: DisplayOptions

    func run() throws {
        let names = try ignored.map { text in
            guard let name = HTTPField.Name(text) else {
                throw ValidationError("--ignore is \(text), which is not the name of a header field")
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
