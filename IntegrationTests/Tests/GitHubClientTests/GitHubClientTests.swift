import ArgumentParser
import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@testable import github

@Suite("The example GitHubClient, with a server on the loopback address", .realTime, .watched)
struct GitHubClientTests {
    @Test("repos lists the repositories of all three pages")
    func pages() async throws {
        let standIn = try StandIn()
        let result = try await Shell().run("repos octo-org --server \(standIn.server)")
        #expect(result.error == "" && result.exitCode == 0)
        let lines = result.output.split(separator: "\n")
        #expect(lines.count == 1 + MadeUp.repositories.count)
        #expect(lines.first == "NAME         STARS  LANGUAGE    PUSHED      DESCRIPTION")
        #expect(lines.last == "kelp         226    Swift       2025-11-14  Parsers, layer upon layer")
        #expect(standIn.paths == Array(repeating: "/users/octo-org/repos", count: 3))
    }

    @Test("With a limit, only the pages that are needed are requested")
    func limit() async throws {
        let standIn = try StandIn()
        let result = try await Shell().run("repos octo-org --limit 5 --server \(standIn.server)/")
        #expect(result.output.split(separator: "\n").count == 1 + 5)
        #expect(standIn.paths.count == 2)
    }

    @Test("issues leaves out pull requests")
    func issues() async throws {
        let standIn = try StandIn()
        let result = try await Shell().run("issues octo-org/hello-world --server \(standIn.server)")
        #expect(
            result.output == """
                ISSUE  AUTHOR      LABELS             TITLE
                #31    octo-cat    bug, localization  The greeting ignores the locale
                #28    octo-squid  documentation      Document the exit codes
                #25    octo-cat    -                  Build on Windows
                #19    octo-ray    bug                Colors cannot be turned off

                """
        )
    }

    @Test("A second run is served from the cache, and after a minute with a 304 for each page")
    func cache() async throws {
        let (standIn, shell) = (try StandIn(), try Shell())
        let command = "repos octo-org --verbose --server \(standIn.server)"
        let first = try await shell.run(command)
        let second = try await shell.run(command)
        #expect(second.output == first.output && standIn.api.requests.count == 3)
        #expect(second.error.matches(of: /cache: hit, fresh for 60 s/).count == 3)

        shell.clock.advance(by: .seconds(61))
        let third = try await shell.run(command)
        #expect(third.output == first.output && standIn.api.requests.count == 6)
        #expect(third.error.matches(of: /← 304/).count == 3)
        #expect(third.error.matches(of: /&page=[23] .*cache: revalidated/).count == 2)
        // Responses of 304 do not count.
        let rate = try await shell.run("rate --server \(standIn.server)")
        #expect(rate.output.contains("core      57         60     2026-01-01T01:00:00Z\n"))
    }

    @Test("A download that is cut off resumes, and the token is not sent to the server of the files")
    func resumes() async throws {
        let standIn = try StandIn(cutCount: 1)
        var shell = try Shell()
        shell.token = "made-up-token"
        let file = shell.folder.file("hello.zip")
        let command = "download octo-org/hello-world hello-world.zip --verbose --server \(standIn.server) --to"
        let result = try await shell.run(command, file.path)
        #expect(result.output == "hello-world.zip: 3 kB in /hello.zip\n" && result.exitCode == 0)
        #expect(try Data(contentsOf: file) == StandIn.asset)
        #expect(standIn.fileFields("Range") == ["", "bytes=1500-"])
        #expect(standIn.fileFields("Authorization") == ["", ""])
        #expect(standIn.api.requests.allSatisfy { $0.values(of: "Authorization") == ["Bearer made-up-token"] })
        #expect(!result.error.contains("made-up-token"))
    }

    @Test("A download that has failed is resumed by the next run")
    func resumesLater() async throws {
        let (standIn, shell) = (try StandIn(cutCount: 3), try Shell())
        let file = shell.folder.file("hello.zip")
        let command = "download octo-org/hello-world hello-world.zip --server \(standIn.server) --to"
        let first = try await shell.run(command, file.path)
        #expect(first.exitCode == 5 && first.output == "" && first.error.contains("truncated"))
        #expect(!FileManager.default.fileExists(atPath: file.path))
        #expect(try await shell.run(command, file.path).exitCode == 0)
        #expect(try Data(contentsOf: file) == StandIn.asset)
        #expect(standIn.fileFields("Range").last == "bytes=2625-")
        #expect(shell.folder.names == ["cache", "hello.zip"])
        #expect(try await shell.run(command, file.path).exitCode == 0)
    }

    @Test(
        "A file is downloaded with a bar that ends at 100 %, with or without a release",
        arguments: ["hello-world", "kelp"]
    )
    func bar(repository: String) async throws {
        let standIn = try StandIn()
        var shell = try Shell()
        shell.isTerminal = true
        let command = "download octo-org/\(repository) docs/100%25.md --server \(standIn.server) --to"
        let result = try await shell.run(command, shell.folder.file("a/b.md").path)
        #expect(shell.folder.text(of: "a/b.md") == MadeUp.text)
        #expect(result.error.hasPrefix("\r\u{1B}[K["))
        let end = "[##############################] 100 %  44 bytes\ndocs/100%25.md: 44 bytes in /a/b.md\n"
        #expect(result.transcript.hasSuffix(end))
    }

    @Test("The bar shows the size, the speed and the time that is left")
    func barText() {
        let step = ProgressResponse(
            progress: 0.5,
            received: .init(byteCount: 1_250_000, totalByteCount: 2_500_000),
            bytesPerSecond: 250_000
        )
        #expect(
            ProgressBar.text(step) == "[###############...............]  50 %  1.2 MB  250 kB/s  5 s left"
        )
    }

    @Test(
        "An error is one line, with an exit code",
        arguments: [
            ("repos octo-none", nil, "/users/octo-none/repos was not found (404); check the name", 2),
            ("repos octo-org", "expired", "the token was rejected (401); check GITHUB_TOKEN", 3),
        ] as [(String, String?, String, Int32)]
    )
    func errors(_ command: String, _ token: String?, _ line: String, _ exitCode: Int32) async throws {
        let standIn = try StandIn()
        var shell = try Shell()
        shell.token = token
        let result = try await shell.run("\(command) --server \(standIn.server)")
        #expect(result.output == "" && result.exitCode == exitCode)
        #expect(result.error.hasPrefix("github: \(line)") && result.error.matches(of: /\n/).count == 1)
    }

    @Test(
        "Options that cannot be used are rejected",
        arguments: [
            "--offline --record a.har", "--replay a.har --record b.har", "--offline --server http://a", "--limit 0",
        ]
    )
    func options(_ options: String) async throws {
        await #expect(throws: (any Error).self) { try await Shell().run("repos octo-org \(options)") }
    }

    @Test("The plugins are in the right order")
    func order() throws {
        let environment = ProgramEnvironment.process
        let plugins = Client.plugins(try ClientOptions.parse([]), isCachedOnDisk: true, environment)
        let provider = Provider<MultiTarget>(transport: ScriptedTransport([]), plugins: [plugins])
        #expect(provider.explain().findings.isEmpty)
    }
}
