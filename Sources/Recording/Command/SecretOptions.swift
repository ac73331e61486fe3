import ArgumentParser
import Foundation
import Pipeline

/// Values that are hidden wherever they stand.
struct SecretOptions: ParsableArguments {
    @Option(
        name: .customLong("secret"),
        help: ArgumentHelp(
            "An environment variable that holds a secret value, of 4 bytes or more; may be repeated.",
            discussion: "A value on the command line could be seen by others, the name of a variable may be.",
            valueName: "variable"
        )
    )
    var variables: [String] = []

    func values() throws -> [String] {
        try variables.map { name in
            guard let value = ProcessInfo.processInfo.environment[name], value.utf8.count >= 4 else {
                throw ValidationError("\(name) holds no value of 4 bytes or more")
            }
            return value
        }
    }

    func redactor() throws -> Redactor { Redactor(secretValues: try values()) }
}
