import ArgumentParser

/// Looks at recordings and works on them.
@main
struct Har: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "har",
        abstract: "Looks at HAR files and works on them. Secrets are hidden in all that is printed.",
        subcommands: [Inspect.self, Validate.self, Redact.self, Merge.self, Diff.self]
    )
}
