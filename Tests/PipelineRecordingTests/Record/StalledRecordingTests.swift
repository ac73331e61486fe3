import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@testable import PipelineRecording

@Suite("Recordings on a stalled disk", .tags(.concurrent), .watched)
struct StalledRecordingTests {
    private func recorder(_ bench: RecordingBench, _ journal: HARJournal) -> Recorder {
        let output = RecordingOutput(file: bench.file, journal: journal, redaction: RecordingRedaction(.standard))
        return Recorder(output, byteLimit: 1 << 20)
    }

    /// Sends each request to a recorder.
    private struct Recording: Transport {
        let recorder: Recorder
        let decodesContent = true

        func send(_ request: PipelineRequest, context: PipelineContext) async throws -> PipelineResponse {
            try await recorder.send(request, to: ScriptedTransport(always: .status(200, body: "x")), context)
        }
    }

    @Test(
        "Recorded calls do not wait for the journal; once finish() returns, the file has all entries"
    )
    func stalled() async throws {
        let bench = try RecordingBench()
        let journal = try HARJournal(for: bench.file)
        let recorder = recorder(bench, journal)
        let gate = DispatchSemaphore(value: 0)
        let hasBegun = Atomic(false)
        journal.lane.add {
            hasBegun.store(true, ordering: .releasing)
            gate.waitForSignal()
        }
        await eventually { hasBegun.load(ordering: .acquiring) }
        let provider = bench.provider(Recording(recorder: recorder))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<32 {
                group.addTask { _ = try await provider.request(bench.target("/\(number)")) }
            }
            try await group.waitForAll()
        }
        #expect(try journal.entries().isEmpty)
        let finishing = Task { try await recorder.finish() }
        gate.signal()
        #expect(try await finishing.value)
        #expect(try HARFile(contentsOf: bench.file).count == 32)
        #expect(bench.names == ["api.har"])
    }

    @Test("A stalled journal queues at most 1,000 entries, and accepts more once the disk recovers")
    func bounded() async throws {
        let bench = try RecordingBench()
        let journal = try HARJournal(for: bench.file)
        let gate = DispatchSemaphore(value: 0)
        journal.lane.add { gate.waitForSignal() }
        let entry = HAREntry(json: .object(["n": .integer(1)]))
        for _ in 0..<1100 { journal.add(entry) }
        gate.signal()
        try await journal.lane.run {}
        #expect(try journal.entries().count == 1000)
        journal.add(entry)
        try await journal.lane.run {}
        #expect(try journal.entries().count == 1001)
    }

    @Test("A cancelled task that calls finish() still writes the recording")
    func cancelled() async throws {
        let bench = try RecordingBench()
        let recorder = recorder(bench, try HARJournal(for: bench.file))
        _ = try await bench.provider(Recording(recorder: recorder)).request(bench.target())
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await recorder.finish()
        }
        #expect(try await task.value)
        #expect(bench.names == ["api.har"])
    }

    @Test("Replays from a stalled disk do not delay other calls, and end immediately when cancelled")
    func replay() async throws {
        let bench = try RecordingBench()
        try bench.write(entries: [("GET", "https://api.example/", "text")])
        let rules = Playback.Rules(
            matching: .standard,
            end: .fail,
            pace: .immediate,
            redaction: RecordingRedaction(.standard),
            expiry: .never,
            bodyByteCount: 100
        )
        let playback = try Playback(HARFile(contentsOf: bench.file), at: bench.file, rules)
        let gate = DispatchSemaphore(value: 0)
        playback.lane.add { gate.waitForSignal() }
        let provider = bench.provider(Replaying(playback: playback))
        let calls = (0..<8).map { number in
            Task { try await provider.request(bench.target(number == 0 ? "/" : "/\(number)")) }
        }
        let other = bench.provider(ScriptedTransport(always: .status(200, body: "other")))
        #expect(try await other.request(bench.target()).data == Data("other".utf8))
        calls[1].cancel()
        await #expect(throws: CancellationError.self) { _ = try await calls[1].value }
        gate.signal()
        #expect(try await calls[0].value.data == Data("text".utf8))
        for call in calls.dropFirst(2) {
            let error = await #expect(throws: PipelineError.self) { _ = try await call.value }
            #expect(error?.code == .recording(.noMatch))
        }
    }

    private struct Replaying: Transport {
        let playback: Playback
        let decodesContent = true

        func send(_ request: PipelineRequest, context: PipelineContext) async throws -> PipelineResponse {
            let (answer, request) = try await playback.answer(to: request, context, canRecord: false)
            switch answer {
            case .entry(let index), .expired(let index): return try await playback.answer(index, to: request, context)
            case .miss(_, let error): throw await error()
            }
        }
    }
}
