import ArgumentParser

/// The options of commands that print a list.
struct ListOptions: ParsableArguments {
    @Option(help: "The most entries to list.") var limit = 100

    func validate() throws {
        guard limit > 0 else { throw ValidationError("--limit is \(limit), not 1 or more.") }
    }
}
