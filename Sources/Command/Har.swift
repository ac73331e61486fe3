#if Tools
import ArgumentParser
import Foundation
import PipelineCore

/// The command that inspects and edits recordings.
@main
struct Har: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "har",
        abstract: "Inspects, validates, redacts, merges, and compares HAR files. Secrets are hidden in the output.",
        discussion: """
            Exits with 0 on success, with 1 if validate or diff finds something, and with 2 if the command fails, for example \
            because it cannot read a file.
            """,
        subcommands: [Inspect.self, View.self, Validate.self, Redact.self, Merge.self, Diff.self]
    )

    /// Runs the work of a command.
    ///
    /// If the work throws an error, prints it to standard error as one line and exits with 2.
    static func run(_ work: () throws -> Void) throws {
        do {
            try work()
        } catch let error as ExitCode {
            throw error
        } catch {
            let reason = (error as? PipelineError)?.reason ?? error.localizedDescription
            print(error: reason)
            throw ExitCode(2)
        }
    }

    /// Prints a line to standard error.
    static func print(error text: String) {
        FileHandle.standardError.write(Data("har: \(text)\n".utf8))
    }
}
#else
import Foundation

/// A replacement for the command that explains how to build it, and does not depend on swift-argument-parser.
@main
enum Har {
    static func main() {
        let text = """
            har: this executable was built without the package trait Tools. Add traits: ["Tools"] to the dependency on \
            Pipeline in Package.swift; in a clone of Pipeline, run it with: swift run --traits Tools har

            """
        FileHandle.standardError.write(Data(text.utf8))
        exit(2)
    }
}
#endif
