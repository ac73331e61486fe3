#if HARCommand
import ArgumentParser
import Foundation
import PipelineRecording

/// A command that redacts a recording.
struct Redact: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Redacts a recording as a recorder does; the result still replays the same requests.",
        discussion: """
            Ends with an error if a secret value of 8 to 15 bytes is left outside of its field; the result is written nevertheless. Name \
            the value with --secret to redact it.
            """
    )

    @Argument(help: "The recording.", completion: .file(extensions: ["har"]))
    var file: String

    @Option(name: [.short, .long], help: "The file to write; defaults to the recording itself.")
    var output: String?

    @OptionGroup var secrets: SecretOptions

    func run() throws {
        let tool = HARTool(redactor: try secrets.redactor())
        try Har.run {
            let result = try tool.redact(URL(filePath: file), to: URL(filePath: output ?? file))
            print("\(output ?? file): \(result)")
        }
    }
}
#endif
