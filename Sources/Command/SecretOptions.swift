#if Tools
import ArgumentParser
import Foundation
import PipelineCore

/// The options for values that are hidden wherever they occur.
struct SecretOptions: ParsableArguments {
    @Option(
        name: .customLong("secret"),
        help: ArgumentHelp(
            "The name of an environment variable whose value, of 4 bytes or more, to hide; may be repeated.",
            discussion:
                "The option takes a name and not the value because other users can see the arguments of a process.",
            valueName: "variable"
        )
    )
    var variables: [String] = []

    @Option(
        name: .customLong("plain"),
        help: ArgumentHelp(
            "The name of a cookie, header field or query item whose value is not secret; may be repeated.",
            valueName: "name"
        )
    )
    var plainNames: [String] = []

    @Option(help: ArgumentHelp("A value that is not secret; may be repeated.", valueName: "value"))
    var plainValue: [String] = []

    /// Returns the redactor, which also hides the values of the variables.
    func redactor(_ base: Redactor = .standard) throws -> Redactor {
        let values = try variables.map { name in
            guard let value = ProcessInfo.processInfo.environment[name], value.utf8.count >= 4 else {
                throw ValidationError(
                    "the environment variable \(name) has no value of 4 bytes or more; set it to the secret"
                )
            }
            return value
        }
        return base.adding(secretValues: values)
            .adding(plainNames: Set(plainNames), plainValues: Set(plainValue))
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
