#if HARCommand
import ArgumentParser
import Foundation
import Pipeline

/// The command that inspects and edits recordings.
@main
struct Har: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "har",
        abstract: "Inspects and edits HAR files. Secrets are hidden in the output.",
        discussion:
            "Ends with 0, with 1 if validate or diff find something, and with 2 if a file cannot be read or written.",
        subcommands: [Inspect.self, Validate.self, Redact.self, Merge.self, Diff.self]
    )

    /// Runs the work of a command.
    ///
    /// An error is printed to standard error as one line and ends the command with 2.
    static func run(_ work: () throws -> Void) throws {
        do {
            try work()
        } catch let error as ExitCode {
            throw error
        } catch {
            let reason = (error as? PipelineError)?.reason ?? error.localizedDescription
            FileHandle.standardError.write(Data("har: \(reason)\n".utf8))
            throw ExitCode(2)
        }
    }
}
#else
import Foundation

/// A replacement that explains how to build the command; it does not need the package that parses arguments.
@main
enum Har {
    static func main() {
        let text = """
            har: built without the trait HARCommand; add traits: ["HARCommand"] to the dependency in Package.swift, or pass \
            --traits HARCommand to swift run in the package itself

            """
        FileHandle.standardError.write(Data(text.utf8))
        exit(2)
    }
}
#endif
