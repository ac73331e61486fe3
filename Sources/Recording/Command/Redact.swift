import ArgumentParser
import Foundation
import Pipeline
import PipelineRecording

/// Hides what is secret in a recording.
struct Redact: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract:
            "Hides what is secret in a recording, as a recorder does; the recording still answers the same requests.",
        discussion: """
            Ends with an error if a secret value of 8 to 15 bytes is left outside of its field; the result is written all the same. \
            Name the value with --secret to hide it.
            """
    )

    @Argument(help: "The recording.", completion: .file(extensions: ["har"]))
    var file: String

    @Option(name: [.short, .long], help: "Where the result is written; by default in its place.")
    var output: String?

    @OptionGroup var secrets: SecretOptions

    func run() throws {
        let redaction = RecordingRedaction(try secrets.redactor())
        let recording = RedactedRecording(try HARFile(contentsOf: URL(filePath: file)), redaction)
        let count = try recording.write(to: URL(filePath: output ?? file))
        print("\(count) entries changed in \(output ?? file)")
    }
}
