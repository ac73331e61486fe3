import ArgumentParser
import Foundation

struct ReposCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "repos",
        abstract: "Lists the public repositories of a user or an organization."
    )

    @Argument(help: "The name of the user or organization.") var owner: String
    @OptionGroup var list: ListOptions
    @OptionGroup var options: ClientOptions

    func show(_ client: Client) async throws {
        let repositories: [Repository] = try await client.items(of: .repositories(owner: owner), limit: list.limit)
        var table = Table("NAME", "STARS", "LANGUAGE", "PUSHED", "DESCRIPTION")
        for repository in repositories {
            table.add(
                repository.name,
                String(repository.stargazersCount),
                repository.language ?? "-",
                repository.pushedAt.map { $0.formatted(.iso8601.year().month().day()) } ?? "-",
                repository.description ?? ""
            )
        }
        table.print(to: client.printer)
    }
}
