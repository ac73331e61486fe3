#if Tools
import ArgumentParser
import Foundation
import PipelineRecording

/// A command that merges several recordings into one.
struct Merge: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Merges recordings into one, with the entries sorted by start time; keeps pages."
    )

    @Argument(help: "The recordings to merge.", completion: .file(extensions: ["har"]))
    var files: [String]

    @Option(name: [.short, .long], help: "The file to write.")
    var output: String

    func run() throws {
        try Har.run {
            let result = try HARTool().merge(files.map { URL(filePath: $0) }, to: URL(filePath: output))
            print("\(output): \(result)")
        }
    }
}
#endif
