import Foundation
import HTTPTypes
import Pipeline
import PipelinePlugins
import PipelineRecording
import PipelineTesting
import TestSupport
import Testing

@Suite("ReplayTransport", .timeLimit(.minutes(10)), .tags(.concurrent))
struct ReplayTransportTests {
    private let bench: RecordingBench

    init() throws { bench = try RecordingBench() }

    @Test("F05 a miss, a used-up key, a missing file and a corrupt file are four errors, and none sends anything")
    func fourErrors() async throws {
        #expect(throws: PipelineError.self) { try bench.closed(.none) }
        do { _ = try bench.closed(.none) } catch let error as PipelineError {
            #expect(error.code == .recording(.missingFile))
        }
        try bench.write("{\"log\": {\"version\": \"1.2\", \"entries\": [")
        for mode in [RecordingMode.none, .once, .newEpisodes] {
            let error = #expect(throws: PipelineError.self) { try bench.closed(mode) }
            #expect(error?.code == .recording(.corrupt))
        }
        try bench.write(entries: [("GET", "https://api.example/a", "a")])
        for mode in [RecordingMode.none, .once] {
            let provider = bench.provider(try bench.closed(mode))
            #expect(try await provider.failureCode(bench.target("/b")) == .noMatch)
            #expect(try await provider.failureCode(bench.target("/a")) == nil)
            #expect(try await provider.failureCode(bench.target("/a")) == .usedUp)
        }
    }

    @Test("F05 a miss lists the three nearest entries part by part, the file, the mode, and how to record")
    func nearest() async throws {
        try bench.write(entries: [
            ("GET", "https://api.example/users/1?page=1", "1"), ("POST", "https://api.example/users/2", "2"),
            ("GET", "http://other.example/x", "3"), ("GET", "https://api.example/users/3?page=2", "4"),
        ])
        let provider = bench.provider(try bench.closed(.none))
        let failure = try #require(try await provider.failure(bench.target("/users/2")))
        let lines = failure.reason.split(separator: "\n").map(String.init)
        try #require(lines.count == 5)
        #expect(
            lines[0]
                == "no entry of \"api.har\" matches GET \"https://api.example/users/2\" (mode none, 4 entries)"
        )
        #expect(
            lines[1]
                == "entry 1, POST \"https://api.example/users/2\": method differs (sent \"GET\", recorded \"POST\"), "
                + "scheme ok, host ok, port ok, path ok, query ok, body ok"
        )
        #expect(lines[2].contains("path differs (sent \"/users/2\", recorded \"/users/1\")"))
        #expect(lines[2].contains("query differs (sent \"\", recorded \"page=1\")"))
        #expect(lines[3].hasPrefix("entry 3"))
        #expect(lines[4].contains("PIPELINE_RECORD=newEpisodes"))
    }

    @Test("An entry that cannot be read is an error, or is left out and listed, and the others answer")
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
        "A file that is JSONP is an error that names the function",
        arguments: ["onInputData({\"log\": {}});", " /**/ a.b$1 ( {} )", "\u{FEFF}cb({\"log\":{\"entries\":[]}})"]
    )
    func wrapped(text: String) throws {
        try bench.write(text)
        let error = #expect(throws: PipelineError.self) { try ReplayTransport(bench.file) }
        #expect(error?.code == .recording(.corrupt))
        #expect(error?.reason.contains("JSONP") == true)
    }

    @Test("A replay without a pace lets RetryPlugin wait for nothing, a replay with one lets it wait")
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
                clock: bench.clock
            )
            let start = bench.clock.now
            let clock = bench.clock
            let driver = Task {
                while !Task.isCancelled { await clock.advanceToNextSleeper() }
            }
            defer { driver.cancel() }
            #expect(try await provider.request(bench.target("/a")).statusCode == 200)
            #expect((start.duration(to: bench.clock.now) >= .seconds(30)) == isWaiting)
            #expect((bench.clock.now == start) != isWaiting)
        }
    }

    @Test("F05 a miss shows no secret")
    func nearestSecrets() async throws {
        try bench.write(entries: [("GET", "https://api.example/a?token=canary-recorded&x=1", "1")])
        let provider = bench.provider(try bench.closed(.none)) { request in
            request.appendQuery("token=canary-sent&x=2")
            try request.setHeader("Bearer canary-field", for: .authorization)
        }
        let failure = try #require(try await provider.failure(bench.target("/a/canary-field")))
        var dumped = ""
        dump(failure, to: &dumped)
        for text in [failure.reason, failure.description, dumped, failure.localizedDescription] {
            #expect(!text.contains("canary"))
        }
        #expect(failure.reason.contains("token=REDACTED&x=2"))
    }

    @Test("F05 entries are used in their order, and what is left is listed")
    func unused() async throws {
        try bench.write(entries: [
            ("GET", "https://api.example/a", "1"), ("GET", "https://api.example/a", "2"),
            ("GET", "https://api.example/b", "3"),
        ])
        let replay = try ReplayTransport(bench.file)
        let provider = bench.provider(replay)
        #expect(try await provider.request(bench.target("/a")).data == Data("1".utf8))
        #expect(replay.recording.unused.map(\.index) == [1, 2])
        let error = #expect(throws: PipelineError.self) { try replay.recording.assertAllUsed() }
        #expect(error?.code == .recording(.unused))
        #expect(
            error?.reason.contains("entry 1: GET https://api.example/a; entry 2: GET https://api.example/b") == true
        )
        #expect(try await provider.request(bench.target("/b")).data == Data("3".utf8))
        #expect(try await provider.request(bench.target("/a")).data == Data("2".utf8))
        try replay.recording.assertAllUsed()
        #expect(replay.recording.description == "api.har: 3 entries, 0 unused")
    }

    @Test(
        "at the end of a sequence a request fails, gets the last answer again, or the first",
        arguments: [
            (SequenceEnd.fail, ["1", "2", "recording.usedUp", "recording.usedUp"]),
            (.repeatLast, ["1", "2", "2", "2"]),
            (.cycle, ["1", "2", "1", "2"]),
        ]
    )
    func sequenceEnd(end: SequenceEnd, expected: [String]) async throws {
        try bench.write(entries: [("GET", "https://api.example/a", "1"), ("GET", "https://api.example/a", "2")])
        let provider = bench.provider(try ReplayTransport(bench.file, atEnd: end))
        var answers: [String] = []
        for _ in expected {
            do {
                answers.append(String(decoding: try await provider.request(bench.target("/a")).data, as: UTF8.self))
            } catch let error as PipelineError {
                answers.append(error.code.rawValue)
            }
        }
        #expect(answers == expected)
    }

    @Test("1,000 calls at once over 10 keys take 1,000 different entries")
    func thousandCalls() async throws {
        try bench.write(entries: (0..<1_000).map { ("GET", "https://api.example/\($0 % 10)", "\($0)") })
        let replay = try ReplayTransport(bench.file)
        let provider = bench.provider(replay)
        let answers = try await withThrowingTaskGroup(of: (Int, String).self) { group in
            for number in 0..<1_000 {
                group.addTask { [bench] in
                    let response = try await provider.request(bench.target("/\(number % 10)"))
                    return (number % 10, String(decoding: response.data, as: UTF8.self))
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(Set(answers.map(\.1)).count == 1_000)
        #expect(answers.allSatisfy { Int($0.1).map { $0 % 10 } == $0.0 })
        try replay.recording.assertAllUsed()
    }

    @Test("a request that was cancelled before it was sent takes no entry")
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

    @Test("bodies are handed over decoded")
    func decodes() throws {
        try bench.write(entries: [])
        #expect(try ReplayTransport(bench.file).decodesContent)
    }
}
