import Foundation
import Pipeline
import PipelineRecording
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("RecordingExpiry", .watched)
struct RecordingExpiryTests {
    private let bench: RecordingBench

    /// The manual clock begins on 2026-01-01; the entry is a day old.
    init() throws {
        bench = try RecordingBench()
        try bench.write(entries: [("GET", "https://api.example/", "old")], started: "2025-12-31T00:00:00Z")
    }

    private func transport(
        _ mode: RecordingMode,
        _ expiry: RecordingExpiry,
        _ wrapped: ScriptedTransport
    ) throws
        -> RecordingTransport
    {
        try RecordingTransport(bench.file, wrapping: wrapped, mode: mode, expiry: expiry)
    }

    @Test(
        "an entry of the maximum age is replayed, and an older one fails",
        arguments: [
            (86_400, nil), (86_399, PipelineError.Code.recording(.expired)),
        ] as [(Int, PipelineError.Code?)]
    )
    func fails(seconds: Int, code: PipelineError.Code?) async throws {
        let replay = try ReplayTransport(bench.file, expiry: .after(.seconds(seconds)))
        #expect(try await bench.provider(replay).failureCode(bench.target()) == code)
    }

    @Test("the age is measured with the provider's clock")
    func clock() async throws {
        let replay = try ReplayTransport(bench.file, atEnd: .cycle, expiry: .after(.seconds(2 * 86_400)))
        let provider = bench.provider(replay)
        #expect(try await provider.failureCode(bench.target()) == nil)
        bench.clock.advance(by: .seconds(86_401))
        #expect(try await provider.failureCode(bench.target()) == .recording(.expired))
    }

    @Test("with .warn an expired entry is replayed, listed and reported")
    func warns() async throws {
        let reported = Mutex<[String]>([])
        let expiry = RecordingExpiry.after(.seconds(1), .warn { entry in reported.withLock { $0.append(entry.url) } })
        let replay = try ReplayTransport(bench.file, expiry: expiry)
        #expect(try await bench.provider(replay).request(bench.target()).data == Data("old".utf8))
        #expect(replay.recording.expired.map(\.index) == [0])
        #expect(reported.withLock { $0 } == ["https://api.example/"])
    }

    @Test(
        "with .rerecord a new response replaces the expired entry",
        arguments: [RecordingMode.recordOnce, .recordNew]
    )
    func recordsAgain(mode: RecordingMode) async throws {
        let live = ScriptedTransport([.status(200, body: "new")])
        let transport = try transport(mode, .after(.seconds(1), .rerecord), live)
        #expect(try await bench.provider(transport).request(bench.target()).data == Data("new".utf8))
        try await transport.finish()
        let replay = try ReplayTransport(bench.file, expiry: .after(.seconds(1)))
        #expect(try await bench.provider(replay).request(bench.target()).data == Data("new".utf8))
        #expect(replay.recording.entries.count == 1)
    }

    @Test("an expired entry is kept if recording it again fails")
    func fallsBack() async throws {
        let live = ScriptedTransport([.failure(.offline)])
        let transport = try transport(.recordOnce, .after(.seconds(1), .rerecord), live)
        #expect(try await bench.provider(transport).failureCode(bench.target()) == .offline)
        try await transport.finish()
        #expect(bench.text.contains("old"))
    }

    @Test("with .rerecord an expired entry fails if the mode does not record, and nothing is sent")
    func neverWhenReplaying() async throws {
        let expiry = RecordingExpiry.after(.seconds(1), .rerecord)
        let transport = try transport(.replayOnly, expiry, RecordingBench.forbidden)
        #expect(try await bench.provider(transport).failureCode(bench.target()) == .recording(.expired))
        let replay = try ReplayTransport(bench.file, expiry: expiry)
        #expect(try await bench.provider(replay).failureCode(bench.target()) == .recording(.expired))
    }

    @Test("an entry without a date does not expire")
    func undated() async throws {
        try bench.write(entries: [("GET", "https://api.example/", "old")], started: "")
        let replay = try ReplayTransport(bench.file, expiry: .after(.zero))
        #expect(try await bench.provider(replay).failureCode(bench.target()) == nil)
    }
}
