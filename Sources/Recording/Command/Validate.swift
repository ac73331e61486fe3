import ArgumentParser
import Foundation
import PipelineRecording

/// Says what is wrong with recordings.
struct Validate: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Says what is wrong with recordings; ends with 1 when something is.",
        discussion: """
            S is shape: what HAR 1.2 requires is missing or of another type. M is meaning: what contradicts itself, such as a size that \
            the body does not have. P is privacy: a secret value of 8 to 15 bytes, such as a cookie's, that is found outside of its field, \
            where it is too short to be replaced. Each line has the index of the entry, from 0.
            """
    )

    @Argument(help: "The recordings.", completion: .file(extensions: ["har"]))
    var files: [String]

    func run() throws {
        var count = 0
        for file in files {
            let findings = RecordingCheck.findings(of: URL(filePath: file))
            for finding in findings { print("\(file): \(finding)") }
            count += findings.count
        }
        if count > 0 { throw ExitCode(1) }
    }
}
