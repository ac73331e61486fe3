import ArgumentParser
import Foundation
import Pipeline

struct RateCommand: ClientCommand {
    static let configuration = CommandConfiguration(
        commandName: "rate",
        abstract: "Shows how many requests the rate limits still permit."
    )

    @OptionGroup var options: ClientOptions

    func show(_ client: Client) async throws {
        let limits = try await client.provider.requestDecoded(RateLimits())
        var table = Table("RESOURCE", "REMAINING", "LIMIT", "RESET")
        for (name, resource) in limits.resources.sorted(by: { $0.key < $1.key }) {
            let reset = Date(timeIntervalSince1970: resource.reset).formatted(.iso8601)
            table.add(name, String(resource.remaining), String(resource.limit), reset)
        }
        table.print(to: client.printer)
    }
}
