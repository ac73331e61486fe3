import ArgumentParser

/// A client for GitHub's REST API.
@main
struct GitHub: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "github",
        abstract: "Reads from GitHub's REST API.",
        discussion: """
            GITHUB_TOKEN is sent if it is set. Without a network, the commands use a bundled recording, which has the \
            organization octo-org and the repository octo-org/hello-world. The exit code is 2 if something was not found, \
            3 if the token was rejected, 4 if the rate limit is used up, 5 if the server is unavailable, and 1 after other \
            errors.
            """,
        subcommands: [ReposCommand.self, IssuesCommand.self, RateCommand.self, DownloadCommand.self]
    )
}
