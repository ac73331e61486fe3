#if Tools
import ArgumentParser
import Foundation
import PipelineRecording

/// A command that shows a recording as a table and a waterfall, or one entry of it.
struct Inspect: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows the entries as a table with a waterfall of their times, or one entry in full.",
        discussion: "The output is colored on a terminal, unless the environment variable NO_COLOR is set."
    )

    @Argument(help: "The recording to show.", completion: .file(extensions: ["har"]))
    var file: String

    @Argument(help: "The number of the entry to show in full, as in the table; the first is 0.")
    var entry: Int?

    @Option(
        help: "The width of the output, 40 characters or more; defaults to the environment variable COLUMNS, or to 120."
    )
    var width: Int?

    @Flag(inversion: .prefixedNo, help: "Whether to draw the waterfall of times.")
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
