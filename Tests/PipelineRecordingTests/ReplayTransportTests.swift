import Foundation
import Pipeline
import PipelineRecording
import PipelineTesting
import TestSupport
import Testing

@Suite("ReplayTransport", .tags(.concurrent), .watched)
struct ReplayTransportTests {
    private let bench: RecordingBench

    init() throws { bench = try RecordingBench() }

    @Test("F05 a miss, a used-up entry, a missing file and a corrupt file are distinct errors; none sends anything")
    func fourErrors() async throws {
        #expect(throws: PipelineError.self) { try bench.closed(.replayOnly) }
        do { _ = try bench.closed(.replayOnly) } catch let error as PipelineError {
            #expect(error.code == .recording(.missingFile))
        }
        try bench.write("{\"log\": {\"version\": \"1.2\", \"entries\": [")
        for mode in [RecordingMode.replayOnly, .recordOnce, .recordNew] {
            let error = #expect(throws: PipelineError.self) { try bench.closed(mode) }
            #expect(error?.code == .recording(.corrupt))
        }
        try bench.write(entries: [("GET", "https://api.example/a", "a")])
        for mode in [RecordingMode.replayOnly, .recordOnce] {
            let provider = bench.provider(try bench.closed(mode))
            #expect(try await provider.failureCode(bench.target("/b")) == .noMatch)
            #expect(try await provider.failureCode(bench.target("/a")) == nil)
            #expect(try await provider.failureCode(bench.target("/a")) == .usedUp)
        }
    }

    @Test("An unreadable entry is an error, or is skipped and listed while the others are replayed")
    func unreadable() async throws {
        let entries = ["a", "b", "c"].map { name in
            let status = name == "b" ? "null" : "200"
            return """
                {"request": {"method": "GET", "url": "https://api.example/\(name)"},
                 "response": {"status": \(status), "content": {"text": "\(name)"}}}
                """
        }
        try bench.write("{\"log\": {\"version\": \"1.2\", \"entries\": [\(entries.joined(separator: ","))]}}")
        let error = #expect(throws: PipelineError.self) { try ReplayTransport(bench.file) }
        #expect(error?.code == .recording(.corrupt))
        #expect(error?.reason.contains("response.status is missing") == true)
        #expect(error?.reason.contains("skipsUnreadable: true") == true)
        let replay = try ReplayTransport(bench.file, skipsUnreadable: true)
        #expect(replay.recording.unreadable.count == 1)
        #expect(replay.recording.unreadable.first?.contains("entry 1") == true)
        let provider = bench.provider(replay)
        #expect(try await provider.request(bench.target("/c")).data == Data("c".utf8))
        #expect(replay.recording.unused.map(\.index) == [0])
        let miss = try #require(try await provider.failure(bench.target("/b")))
        #expect(miss.code == .recording(.noMatch))
        #expect(miss.reason.contains("entry 2, used, GET"))
    }

    @Test(
        "A JSONP file is an error that names JSONP",
        arguments: ["onInputData({\"log\": {}});", " /**/ a.b$1 ( {} )", "\u{FEFF}cb({\"log\":{\"entries\":[]}})"]
    )
    func wrapped(text: String) throws {
        try bench.write(text)
        let error = #expect(throws: PipelineError.self) { try ReplayTransport(bench.file) }
        #expect(error?.code == .recording(.corrupt))
        #expect(error?.reason.contains("JSONP") == true)
    }

    @Test("In virtual time, the clock does not advance while the recording is read, so no limit passes")
    func virtualTime() async throws {
        let origin = ScriptedTransport([.status(503, headers: [.retryAfter: "1"]), .status(200, body: "there")])
        let recorder = try RecordingTransport(bench.file, wrapping: origin, mode: .recordNew)
        let recorded = Provider<Probe>(
            transport: recorder,
            plugins: [RetryPlugin()],
            configuration: .init(clock: bench.clock)
        )
        _ = try await bench.clock.run { try await recorded.request(bench.target("/a")) }
        try await recorder.finish()
        for _ in 1...20 {
            let clock = ManualClock()
            let provider = Provider<Probe>(
                transport: try ReplayTransport(bench.file, pace: .recorded),
                plugins: [.standard(logging: .error)],
                configuration: .init(clock: clock)
            )
            let response = try await clock.run { try await provider.request(bench.target("/a")) }
            #expect(response.data == Data("there".utf8))
            #expect(clock.now.offset < .seconds(5))
        }
    }

    @Test("RetryPlugin waits in a replay with the recorded pace, but not in an immediate one")
    func retryAfter() async throws {
        for (pace, isWaiting) in [(ReplayPace.immediate, false), (.recorded, true)] {
            let entries = [
                (429, "\"Retry-After\", \"value\": \"30\""), (503, "\"X-A\", \"value\": \"\""),
                (200, "\"X-A\", \"value\": \"\""),
            ]
            let texts = entries.map { status, header in
                """
                {"request": {"method": "GET", "url": "https://api.example/a"},
                 "response": {"status": \(status), "headers": [{"name": \(header)}]}}
                """
            }
            try bench.write("{\"log\": {\"version\": \"1.2\", \"entries\": [\(texts.joined(separator: ","))]}}")
            let provider = Provider<Probe>(
                transport: try ReplayTransport(bench.file, pace: pace),
                plugins: [RetryPlugin()],
                configuration: .init(clock: bench.clock)
            )
            let start = bench.clock.now
            let clock = bench.clock
            let driver = Task {
                while !Task.isCancelled { try await clock.advanceToNextSleeper() }
            }
            defer { driver.cancel() }
            #expect(try await provider.request(bench.target("/a")).statusCode == 200)
            #expect((start.duration(to: bench.clock.now) >= .seconds(30)) == isWaiting)
            #expect((bench.clock.now == start) != isWaiting)
        }
    }

    @Test("a request cancelled before it is sent uses no entry")
    func cancelled() async throws {
        try bench.write(entries: [("GET", "https://api.example/a", "1")])
        let replay = try ReplayTransport(bench.file)
        let provider = bench.provider(replay)
        let call = Task { [bench] in
            withUnsafeCurrentTask { $0?.cancel() }
            return try await provider.request(bench.target("/a"))
        }
        await #expect(throws: CancellationError.self) { _ = try await call.value }
        #expect(replay.recording.unused.count == 1)
    }

    @Test("the transport reports that it decodes content")
    func decodes() throws {
        try bench.write(entries: [])
        #expect(try ReplayTransport(bench.file).decodesContent)
    }
}
