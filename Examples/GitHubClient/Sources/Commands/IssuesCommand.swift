import ArgumentParser

struct IssuesCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "issues",
        abstract: "Lists the open issues of a repository, without its pull requests."
    )

    @Argument(help: "The repository, as OWNER/REPO.") var repository: RepositoryName
    @OptionGroup var list: ListOptions
    @OptionGroup var options: ClientOptions

    func show(_ client: Client) async throws {
        let issues: [Issue] = try await client.items(of: .issues(of: repository), limit: list.limit) {
            $0.pullRequest == nil
        }
        var table = Table("ISSUE", "AUTHOR", "LABELS", "TITLE")
        for issue in issues {
            let labels = issue.labels.map(\.name).joined(separator: ", ")
            table.add("#\(issue.number)", issue.user?.login ?? "-", labels.isEmpty ? "-" : labels, issue.title)
        }
        table.print(to: client.printer)
    }
}
