import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@testable import github

@Suite("The example GitHubClient and the rate limits of GitHub, in virtual time", .realTime, .watched)
struct RateLimitTests {
    private static let page = #"[{"name": "kelp", "stargazers_count": 1}]"#

    /// Returns the fields of a response after which no requests remain for some time.
    private static func usedUp(for seconds: Int, hasNextPage: Bool = false) -> HTTPFields {
        let fields = [
            "x-ratelimit-remaining": "0", "x-ratelimit-reset": String(StandIn.reset - 3_600 + seconds),
            "Link": hasNextPage ? #"<https://api.github.com/next>; rel="next""# : nil,
        ]
        return HTTPFields(
            fields.compactMap { name, value in
                HTTPField.Name(name).flatMap { name in value.map { HTTPField(name: name, value: $0) } }
            }
        )
    }

    private static func list(
        _ steps: [ScriptedTransport.Step]
    ) async throws -> (result: Shell.Result, requestCount: Int, time: Duration) {
        let transport = ScriptedTransport(steps)
        var shell = try Shell(transport: transport)
        // A store on the disk has threads of its own, for which virtual time does not wait.
        shell.isCachedOnDisk = false
        let result = try await shell.clock.run { [shell] in try await shell.run("repos octo-org") }
        return (result, transport.sent.count, shell.clock.now.offset)
    }

    @Test("When no requests remain, the next page waits until the limit is restored")
    func waits() async throws {
        let (result, count, time) = try await Self.list([
            .status(200, headers: Self.usedUp(for: 30, hasNextPage: true), body: Self.page),
            .status(200, body: Self.page),
        ])
        #expect(result.exitCode == 0 && count == 2 && time == .seconds(30))
        #expect(result.error == "github: no requests remain; the next is possible in 30 s\n")
    }

    @Test("If the wait would be longer than a minute, the command fails at once")
    func refuses() async throws {
        let (result, count, time) = try await Self.list([
            .status(200, headers: Self.usedUp(for: 1_800, hasNextPage: true), body: Self.page)
        ])
        #expect(result.exitCode == 4 && count == 1 && time == .zero && result.output == "")
        #expect(
            result.error.hasSuffix(
                "github: the rate limit is used up; try again in 1800 s, or set GITHUB_TOKEN for a higher limit\n"
            )
        )
    }

    @Test("A refused request is retried when GitHub permits it", arguments: [403, 429])
    func retries(statusCode: Int) async throws {
        let (result, count, time) = try await Self.list([
            .status(statusCode, headers: Self.usedUp(for: 20)),
            .status(statusCode, headers: [.retryAfter: "5"]),
            .status(200, body: Self.page),
        ])
        #expect(result.exitCode == 0 && count == 3 && time == .seconds(25))
        #expect(result.output.hasSuffix("kelp  1      -         -\n"))
    }

    @Test("The plugin follows the rules for plugins")
    func conformance() async {
        #expect(await PluginConformance { GitHubLimitPlugin { _ in } }.run() == [])
    }

    @Test("A 403 for another reason is neither retried nor taken for a rate limit")
    func forbidden() async throws {
        let (result, count, _) = try await Self.list([.status(403, body: #"{"message": "Blocked"}"#)])
        #expect(result.exitCode == 1 && count == 1)
        #expect(result.error == "github: /users/octo-org/repos failed with 403: Blocked\n")
    }
}
