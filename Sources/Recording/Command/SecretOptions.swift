#if HARCommand
import ArgumentParser
import Foundation
import Pipeline

/// The options for values that are hidden wherever they are found.
struct SecretOptions: ParsableArguments {
    @Option(
        name: .customLong("secret"),
        help: ArgumentHelp(
            "An environment variable with a secret value of 4 bytes or more; may be repeated.",
            discussion:
                "The option takes the name of a variable because other users can see the arguments of a process.",
            valueName: "variable"
        )
    )
    var variables: [String] = []

    /// Returns the redactor, which also hides the values of the variables.
    func redactor(_ base: Redactor = .standard) throws -> Redactor {
        let values = try variables.map { name in
            guard let value = ProcessInfo.processInfo.environment[name], value.utf8.count >= 4 else {
                throw ValidationError("the environment variable \(name) has no value of 4 bytes or more")
            }
            return value
        }
        return base.adding(secretValues: values)
    }
}

/// The options that decide what the output of a command shows.
struct DisplayOptions: ParsableArguments {
    @Flag(help: "Show the values of query items whose names are not secret.")
    var queries = false

    @OptionGroup var secrets: SecretOptions

    func redactor() throws -> Redactor { try secrets.redactor(queries ? .development : .standard) }
}
#endif
