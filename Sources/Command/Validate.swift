#if Tools
import ArgumentParser
import Foundation
import PipelineRecording

/// A command that finds errors in recordings.
struct Validate: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Checks recordings for errors and misplaced secrets, and exits with 1 if it finds any.",
        discussion: """
            Each line shows the kind of a finding and the index of its entry, from 0. format: a member that HAR 1.2 requires is missing, \
            or a member has the wrong type or is unknown. contradiction: members contradict each other, such as the size and the text of \
            a body. secret: a secret value of 8 to 15 bytes, such as a cookie, occurs outside of its field, where it is too short to be \
            replaced; hide it with har redact --secret. warning: such a value that does not mix digits and letters and is probably not \
            secret. A warning does not change the exit code; --plain NAME silences it.
            """
    )

    @Argument(help: "The recordings to check.", completion: .file(extensions: ["har"]))
    var files: [String]

    @OptionGroup var secrets: SecretOptions

    func run() throws {
        let tool = HARTool(redactor: try secrets.redactor())
        try Har.run {
            var isValid = true
            for file in files {
                let result = try tool.findings(in: URL(filePath: file), named: file)
                for line in result.lines { print(line) }
                isValid = isValid && result.isValid
            }
            if !isValid { throw ExitCode(1) }
        }
    }
}
#endif
