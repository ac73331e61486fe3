#if Tools
import ArgumentParser
import Foundation
import PipelineRecording

/// A command that redacts a recording.
struct Redact: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Redacts the secrets in a recording, as a recorder does; it still replays the same requests.",
        discussion: """
            A secret value of 8 to 15 bytes is too short to be replaced outside of its field. If one is left there, the file is written \
            and the command names the field and the entries and exits with 2; for a value that does not mix digits and letters, it only \
            prints a warning. To redact such a value everywhere, name it with --secret. If it is not secret, use --plain.
            """
    )

    @Argument(help: "The recording to redact.", completion: .file(extensions: ["har"]))
    var file: String

    @Option(name: [.short, .long], help: "The file to write.", completion: .file(extensions: ["har"]))
    var output: String?

    @Flag(name: [.short, .long], help: "Replaces the recording.")
    var inPlace = false

    @OptionGroup var secrets: SecretOptions

    func validate() throws {
        if (output != nil) == inPlace {
            throw ValidationError("Name the file to write with -o FILE, or replace the recording with --in-place.")
        }
    }

    func run() throws {
        let tool = HARTool(redactor: try secrets.redactor())
        try Har.run {
            let result = try tool.redact(URL(filePath: file), to: URL(filePath: output ?? file))
            for warning in result.warnings { Har.print(error: "warning: " + warning) }
            print("\(output ?? file): \(result.result)")
        }
    }
}
#endif
