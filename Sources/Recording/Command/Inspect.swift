#if HARCommand
import ArgumentParser
import Foundation
import PipelineRecording

/// A command that shows a recording as a table and a waterfall, or one entry of it.
struct Inspect: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows a table of the entries and a waterfall of their times, or one entry in full.",
        discussion: "The output has colours on a terminal, unless the environment variable NO_COLOR is set."
    )

    @Argument(help: "The recording.", completion: .file(extensions: ["har"]))
    var file: String

    @Argument(help: "The number of an entry in the table, to show it in full.")
    var entry: Int?

    @Option(help: "The width of the terminal, in characters; defaults to the variable COLUMNS, else to 120.")
    var width: Int?

    @Flag(inversion: .prefixedNo, help: "Whether to draw the times.")
    var waterfall = true

    @OptionGroup var display: DisplayOptions

    func validate() throws {
        if let width, width < 40 {
            throw ValidationError("--width is \(width); set it to 40 or more")
        }
    }

    func run() throws {
        let variables = ProcessInfo.processInfo.environment
        let tool = HARTool(
            redactor: try display.redactor(),
            width: width ?? variables["COLUMNS"].flatMap { Int($0) } ?? 120,
            isColored: variables["NO_COLOR", default: ""].isEmpty && variables["TERM"] != "dumb"
                && isatty(STDOUT_FILENO) == 1
        )
        try Har.run {
            let url = URL(filePath: file)
            let lines =
                try entry.map { try tool.detail(ofEntry: $0, in: url) } ?? tool.table(of: url, showsTimes: waterfall)
            for line in lines { print(line) }
        }
    }
}
#endif
