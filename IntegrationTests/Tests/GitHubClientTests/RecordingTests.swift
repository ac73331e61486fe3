import Foundation
import Pipeline
import PipelineRecording
import PipelineTesting
import TestSupport
import Testing

@testable import github

@Suite("The recording of the example GitHubClient", .realTime, .watched)
struct RecordingTests {
    /// With `GITHUB_RECORDING=renew` in the environment, this test writes the recording instead.
    @Test("The bundled recording is what the program records today")
    func isCurrent() async throws {
        let fresh = try await FreshRecording().har
        guard ProcessInfo.processInfo.environment["GITHUB_RECORDING"] == "renew" else {
            let bundled = try FreshRecording.normalized(Data(PackageResources.github_har))
            #expect(
                fresh == bundled,
                "run: GITHUB_RECORDING=renew swift test --package-path IntegrationTests --filter GitHubClient"
            )
            return
        }
        let folder = URL(filePath: #filePath).deletingLastPathComponent().appending(
            path: "../../../Examples/GitHubClient"
        )
        try fresh.write(to: folder.appending(path: "Sources/Recording/github.har"))
    }

    @Test("A replay prints the same as the run that was recorded", arguments: ["--offline", "--replay"])
    func replays(option: String) async throws {
        let (fresh, shell) = (try await FreshRecording(), try Shell(transport: ScriptedTransport([])))
        try fresh.har.write(to: shell.folder.file("github.har"))
        let further = option == "--replay" ? [option, shell.folder.file("github.har").path] : [option]
        for command in FreshRecording.commands {
            let recorded = try #require(fresh.results[command])
            #expect(recorded.exitCode == 0 && recorded.error == "")
            #expect(try await shell.run(command, further) == recorded)
        }
        #expect(shell.folder.names == ["FILE", "github.har"])
    }

    @Test(
        "Without a network, the bundled recording is used",
        arguments: [.dns, .offline, .connect(.refused)] as [PipelineError.Code]
    )
    func fallback(code: PipelineError.Code) async throws {
        let transport = ScriptedTransport([.failure(code)])
        let shell = try Shell(transport: transport)
        let result = try await shell.run("repos octo-org")
        #expect(result.error == "github: no network (\(code)); this is the bundled recording, of made-up data\n")
        #expect(try await shell.run("repos octo-org --offline").output == result.output)
        #expect(result.exitCode == 0 && transport.sent.count == 1)
    }

    @Test("Other failures, and a chosen server that is unreachable, are errors")
    func noFallback() async throws {
        let shell = try Shell(transport: ScriptedTransport([.failure(.tls(.certificate))]))
        #expect(try await shell.run("repos octo-org").exitCode == 5)
        let port = try LoopbackPort.refusing()
        let result = try await Shell().run("repos octo-org --server \(port.url.absoluteString)")
        #expect(result.output == "" && result.exitCode == 5)
        #expect(result.error.hasSuffix("(connect.refused, \(port.url.absoluteString))\n"))
    }

    @Test("A request that the recording lacks is an error that names what it contains")
    func missing() async throws {
        let result = try await Shell().run("repos octo-none --offline")
        #expect(result.exitCode == 2 && result.error.contains("the bundled one has octo-org and octo-org/hello-world"))
    }
}
