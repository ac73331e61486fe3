import ArgumentParser
import Foundation
import PipelineRecording

/// Shows a recording as a table and a waterfall.
struct Inspect: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Shows a table of the entries and a waterfall of their times."
    )

    @Argument(help: "The recording.", completion: .file(extensions: ["har"]))
    var file: String

    @Option(help: "The width of the terminal, in characters; by default the variable COLUMNS, else 120.")
    var width: Int?

    @Flag(inversion: .prefixedNo, help: "Whether times are drawn.")
    var waterfall = true

    @OptionGroup var secrets: SecretOptions

    func validate() throws {
        if let width, width < 40 {
            throw ValidationError("a width of \(width) characters is too narrow, 40 is the least")
        }
    }

    func run() throws {
        let columns = width ?? ProcessInfo.processInfo.environment["COLUMNS"].flatMap { Int($0) } ?? 120
        let entries = RecordedEntry.all(of: try HARFile(contentsOf: URL(filePath: file)))
        for line in RecordingTable(entries, redactor: try secrets.redactor()).lines(width: columns) { print(line) }
        let bars = waterfall ? RecordingWaterfall(entries).lines(width: columns) : []
        if !bars.isEmpty { print("") }
        for line in bars { print(line) }
    }
}
