import Foundation
import Pipeline
import PipelineRecording
import PipelineTesting
import TestSupport
import Testing

@Suite("Replay of signed requests", .watched)
struct SignedReplayTests {
    private let bench: RecordingBench

    init() throws { bench = try RecordingBench() }

    /// Sends a request that is signed at a date.
    private func send(
        _ scheme: SigningScheme,
        key: String,
        year: Double,
        path: String = "/a",
        _ transport: any Transport
    ) async throws -> PipelineResponse {
        let date = Date(timeIntervalSince1970: 1_700_000_000 + year * 365 * 86_400)
        let provider = Provider<Probe>(
            transport: transport,
            plugins: [try scheme.plugin(key: key, token: "token of \(key)").plugin],
            configuration: .init(clock: ManualClock(date: date))
        )
        return try await provider.request(bench.target(path, method: .post, task: .requestData(Data("x".utf8))))
    }

    @Test(
        "A request that another key signs at another time matches, also after a redirect",
        arguments: SigningScheme.allCases
    )
    func matches(scheme: SigningScheme) async throws {
        let scripted = ScriptedTransport { request, _ in
            request.path == "/a"
                ? .status(307, headers: [.location: "/c?x=1&\(request.query ?? "")"])
                : .status(200, body: request.path)
        }
        let recording = try RecordingTransport(bench.file, wrapping: scripted, mode: .recordAll)
        for path in ["/a", "/b"] { _ = try await send(scheme, key: "a key", year: 0, path: path, recording) }
        try await recording.finish()
        let replay = try ReplayTransport(bench.file)
        for (path, text) in [("/b", "/b"), ("/a", "/c")] {
            let response = try await send(scheme, key: "another key", year: 1, path: path, replay)
            #expect(response.data == Data(text.utf8))
        }
    }
}
