import ArgumentParser
import Foundation
import PipelineRecording

/// Makes one recording of several.
struct Merge: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Merges recordings into one, sorted by the start of the entries; pages are kept."
    )

    @Argument(help: "The recordings.", completion: .file(extensions: ["har"]))
    var files: [String]

    @Option(name: [.short, .long], help: "Where the result is written.")
    var output: String

    func run() throws {
        let files = try files.map { try HARFile(contentsOf: URL(filePath: $0)) }
        let count = try RecordingMerge.write(files, to: URL(filePath: output))
        print("\(count) entries in \(output)")
    }
}
