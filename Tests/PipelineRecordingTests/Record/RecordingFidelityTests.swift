import Foundation
import Pipeline
import PipelineRecording
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("Fidelity of recordings", .tags(.concurrent), .watched)
struct RecordingFidelityTests {
    private let bench: RecordingBench
    private static let binary = Data((0..<10_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })

    init() throws { bench = try RecordingBench() }

    private func replay(
        _ matching: RequestMatching = .standard,
        pace: ReplayPace = .immediate
    ) throws -> Provider<Probe> {
        bench.provider(try ReplayTransport(bench.file, matching: matching, pace: pace))
    }

    /// Returns a stream of pieces that arrive one second apart, followed by a failure or the end.
    private func stream(_ pieces: [String], failure: PipelineError? = nil, byteCount: Int? = nil) -> PipelineBody {
        let clock = bench.clock
        // Each piece is produced on demand; produced ahead, all could be there before the first is read.
        let rest = Mutex(pieces[...])
        let chunks = AsyncThrowingStream<Data, any Error> {
            guard let piece = rest.withLock({ $0.popFirst() }) else {
                if let failure { throw failure }
                return nil
            }
            try await clock.sleep(until: clock.now.advanced(by: .seconds(1)), tolerance: nil)
            return Data(piece.utf8)
        }
        return .stream(chunks, byteCount: byteCount)
    }

    /// Reads a stream and advances the clock whenever a task sleeps on it.
    private func read(
        _ provider: Provider<Probe>,
        _ target: Probe
    ) async throws -> (pieces: [String], error: (any Error)?) {
        let clock = bench.clock
        let driver = Task {
            while !Task.isCancelled { try await clock.advanceToNextSleeper() }
        }
        defer { driver.cancel() }
        let response = try await provider.stream(target)
        var pieces: [String] = []
        do {
            for try await chunk in response.body { pieces.append(String(decoding: chunk, as: UTF8.self)) }
        } catch {
            return (pieces, error)
        }
        return (pieces, nil)
    }

    @Test("a body is replayed byte for byte", arguments: [Data(), Data([0]), Data("text\r\n \u{e9}".utf8), binary])
    func bytes(body: Data) async throws {
        try await bench.record([.status(200, body: .bytes(body))]) { provider in
            let first = try await provider.request(bench.target()).data
            #expect(first == body)
        }
        #expect(try await replay().request(bench.target()).data == body)
    }

    @Test("status, reason phrase, repeated fields and their order are kept")
    func head() async throws {
        var fields: HTTPFields = [:]
        for (name, value) in [("X-B", "1"), ("Set-Cookie", "a=b; Path=/"), ("X-A", "2"), ("x-b", "3"), ("X-Empty", "")]
        {
            fields.append(HTTPField(name: try #require(HTTPField.Name(name)), value: value))
        }
        let head = HTTPResponse(status: .init(code: 418, reasonPhrase: "Tea"), headerFields: fields)
        try await bench.record([.answer { request, _ in PipelineResponse(request: request, head: head) }]) {
            _ = try await $0.request(bench.target())
        }
        let response = try await replay().request(bench.target())
        #expect(response.statusCode == 418)
        #expect(response.head.status.reasonPhrase == "Tea")
        #expect(response.headers.map(\.name.rawName) == fields.map(\.name.rawName))
        #expect(response.headers.map(\.value) == ["1", "a=REDACTED; Path=/", "2", "3", ""])
    }

    @Test(
        "HEAD, 204 and 304 responses keep Content-Length and Content-Encoding but have no body",
        arguments: [
            (HTTPRequest.Method.head, 200), (.get, 204), (.get, 304),
        ]
    )
    func noBody(method: HTTPRequest.Method, status: Int) async throws {
        let headers: HTTPFields = [.contentLength: "17", .contentEncoding: "gzip"]
        try await bench.record([.status(status, headers: headers, body: .absent)]) {
            _ = try await $0.request(bench.target(method: method))
        }
        let response = try await replay().request(bench.target(method: method))
        #expect(response.statusCode == status)
        #expect(response.data.isEmpty)
        #expect(response.headers == headers)
    }

    @Test("redirects are recorded and replayed hop by hop")
    func redirects() async throws {
        let steps: [ScriptedTransport.Step] = [
            .status(302, headers: [.location: "/b"], body: "moved"), .status(301, headers: [.location: "/c?x=1"]),
            .status(200, body: "there"),
        ]
        let transport = try RecordingTransport(bench.file, wrapping: ScriptedTransport(steps), mode: .recordAll)
        _ = try await bench.provider(transport, redirects: .standard).request(bench.target("/a"))
        try await transport.finish()
        let replay = try ReplayTransport(bench.file)
        let response = try await bench.provider(replay, redirects: .standard).request(bench.target("/a"))
        #expect(response.data == Data("there".utf8))
        #expect(response.exchanges.map(\.statusCode) == [302, 301, 200])
        try replay.recording.assertAllUsed()
    }

    @Test(
        "a stream is relayed in pieces and replayed in them, with no delay, the recorded one or a scaled one",
        arguments: [
            (ReplayPace.immediate, 0.0), (.recorded, 3), (.scaled(2), 6), (.scaled(0.5), 1.5),
        ]
    )
    func stream(pace: ReplayPace, seconds: Double) async throws {
        let pieces = ["one", "two", "three"]
        try await bench.record([.status(200, body: stream(pieces))]) { provider in
            let outcome = try await read(provider, bench.target())
            #expect(outcome.pieces == pieces)
        }
        let start = bench.clock.now
        let outcome = try await read(replay(pace: pace), bench.target())
        #expect(outcome.pieces == pieces)
        #expect(outcome.error == nil)
        #expect(start.duration(to: bench.clock.now) == .seconds(seconds))
    }

    @Test("the delay before the header fields is replayed")
    func headDelay() async throws {
        let transport = ScriptedTransport([.delayed(.seconds(5), .status(200, body: "late"))])
        let recording = try RecordingTransport(bench.file, wrapping: transport, mode: .recordAll)
        let call = Task { [bench] in try await bench.provider(recording).request(bench.target()) }
        try await bench.clock.advanceToNextSleeper()
        _ = try await call.value
        try await recording.finish()
        let replayed = Task { [provider = try replay(pace: .recorded)] in try await provider.request(bench.target()) }
        #expect(try await bench.clock.advanceToNextSleeper() == .seconds(5))
        #expect(try await replayed.value.data == Data("late".utf8))
    }

    @Test(
        "errors are replayed with their code",
        arguments: [
            PipelineError.Code.offline, .dns, .connect(.refused), .tls(.certificate), .timeout(.idle), .connectionLost,
            .malformedResponse,
        ]
    )
    func failures(code: PipelineError.Code) async throws {
        try await bench.record([.failure(code), .status(200)]) { provider in
            let first = try await provider.failureCode(bench.target())
            #expect(first == code)
            let second = try await provider.failureCode(bench.target())
            #expect(second == nil)
        }
        let provider = try replay()
        #expect(try await provider.failureCode(bench.target()) == code)
        #expect(try await provider.failureCode(bench.target()) == nil)
    }

    @Test("an error other than a PipelineError is replayed with the code transport")
    func foreignFailure() async throws {
        struct Odd: Error {}
        try await bench.record([.failure(Odd())]) { _ = try await $0.failureCode(bench.target()) }
        let failure = try await replay().failure(bench.target())
        #expect(failure?.code == .transport)
        #expect(failure?.reason.contains("Odd") == true)
    }

    @Test("a failure after some bytes replays the bytes and then fails")
    func failureInBody() async throws {
        let body = stream(["one", "two"], failure: PipelineError(.connectionLost, "gone"), byteCount: 100)
        try await bench.record([.status(200, headers: [.contentLength: "100"], body: body)]) { provider in
            _ = try await read(provider, bench.target())
        }
        let outcome = try await read(replay(), bench.target())
        #expect(outcome.pieces == ["one", "two"])
        #expect((outcome.error as? PipelineError)?.code == .connectionLost)
    }

    @Test("a call with its body in memory also fails if the recorded body failed")
    func failureInBodyInMemory() async throws {
        let body = PipelineBody.stream(
            AsyncThrowingStream { continuation in
                continuation.yield(Data("one".utf8))
                continuation.finish(throwing: PipelineError(.connectionLost, "gone"))
            }
        )
        try await bench.record([.status(200, body: body)]) { _ = try await $0.failureCode(bench.target()) }
        #expect(try await replay().failureCode(bench.target()) == .connectionLost)
    }

    @Test("a stream whose reader stops early is recorded up to that point and replayed as truncated")
    func stoppedReader() async throws {
        let body = PipelineBody.stream(
            AsyncStream { continuation in
                for piece in ["one", "two", "three"] { continuation.yield(Data(piece.utf8)) }
                continuation.finish()
            }
        )
        try await bench.record([.status(200, body: body)]) { provider in
            let response = try await provider.stream(bench.target())
            for try await _ in response.body { break }
        }
        let outcome = try await read(replay(), bench.target())
        #expect(outcome.pieces == ["one"])
        #expect((outcome.error as? PipelineError)?.code == .truncated)
    }

    @Test("an upload stream is sent once, as a stream, and recorded")
    func upload() async throws {
        let body = PipelineBody.stream(
            AsyncStream { continuation in
                for piece in ["one", "two"] { continuation.yield(Data(piece.utf8)) }
                continuation.finish()
            }
        )
        let transport = try RecordingTransport(
            bench.file,
            wrapping: ScriptedTransport(
                always: .answer { request, _ in
                    #expect(request.body.bytes == nil)
                    let first = try await request.body.collect(upTo: 100)
                    #expect(first == Data("onetwo".utf8))
                    return PipelineResponse(request: request, statusCode: 200)
                }
            ),
            mode: .recordAll
        )
        _ = try await bench.provider(transport) { $0.body = body }.request(bench.target(method: .post))
        try await transport.finish()
        let provider = bench.provider(try ReplayTransport(bench.file)) { $0.body = .bytes(Data("onetwo".utf8)) }
        #expect(try await provider.failureCode(bench.target(method: .post)) == nil)
    }

    @Test("content-coded bodies are recorded decoded and replayed without the coding", arguments: [true, false])
    func contentCoding(isStream: Bool) async throws {
        let text = Data(String(repeating: "hello gzip ", count: 100).utf8)
        let gzip = Deflate.gzip(text)
        let headers: HTTPFields = [
            .contentEncoding: "gzip", .contentLength: "\(gzip.count)", .contentType: "text/plain",
        ]
        let pieces = AsyncStream { continuation in
            continuation.yield(gzip.prefix(10))
            continuation.yield(gzip.dropFirst(10))
            continuation.finish()
        }
        let body: PipelineBody = isStream ? .stream(pieces) : .bytes(gzip)
        try await bench.record([.status(200, headers: headers, body: body)]) { provider in
            let response = try await provider.request(bench.target())
            #expect(response.data == gzip)
            #expect(response.headers == headers)
        }
        #expect(bench.text.contains("hello gzip hello gzip"))
        let response = try await replay().request(bench.target())
        #expect(response.data == text)
        #expect(response.headers == [.contentType: "text/plain"])
    }

    @Test(
        "a body that is damaged or not in its content coding is recorded unchanged, and fails when it is replayed",
        arguments: [binary, Data(Deflate.gzip(Data("hello".utf8)).dropLast(3))],
        [false, true]
    )
    func wrongCoding(body: Data, isStreamed: Bool) async throws {
        let headers: HTTPFields = [.contentEncoding: "gzip"]
        try await bench.record([.status(200, headers: headers, body: .bytes(body))]) {
            _ = try await $0.request(bench.target())
        }
        #expect(bench.text.contains(body.base64EncodedString()))
        let error = await #expect(throws: PipelineError.self) {
            if isStreamed { for try await _ in try await replay().stream(bench.target()).body {} }
            _ = try await replay().request(bench.target())
        }
        #expect(error?.code == .contentCoding(body == Self.binary ? .corrupt : .truncated))
    }

    @Test("a body in a content coding that is unknown is recorded and replayed unchanged")
    func unknownCoding() async throws {
        let headers: HTTPFields = [.contentEncoding: "unknown"]
        try await bench.record([.status(200, headers: headers, body: .bytes(Self.binary))]) {
            _ = try await $0.request(bench.target())
        }
        let response = try await replay().request(bench.target())
        #expect(response.data == Self.binary)
        #expect(response.headers == headers)
    }

    @Test("Content-Length is corrected and Transfer-Encoding is removed")
    func contentLength() async throws {
        let headers: HTTPFields = [.contentLength: "9", .transferEncoding: "chunked", .eTag: "\"1\""]
        try await bench.record([.status(200, headers: headers, body: "hello")]) {
            _ = try await $0.request(bench.target())
        }
        #expect(try await replay().request(bench.target()).headers == [.contentLength: "5", .eTag: "\"1\""])
    }

    @Test("a request body is not read if no matching part compares bodies")
    func unreadBody() async throws {
        try bench.write(entries: [("POST", "https://api.example/", "ok")])
        let transport = try ReplayTransport(bench.file, matching: [.method, .url], atEnd: .repeatLast)
        let reader = PipelineBody.stream(
            AsyncThrowingStream<Data, any Error> {
                Issue.record("the body was read")
                return nil
            }
        )
        let provider = bench.provider(transport) { $0.body = reader }
        #expect(try await provider.request(bench.target(method: .post)).data == Data("ok".utf8))
        #expect(!reader.isConsumed)
    }

    @Test("a stream that was read for matching is sent from memory")
    func materialised() async throws {
        try bench.write(entries: [])
        let transport = try RecordingTransport(
            bench.file,
            wrapping: ScriptedTransport(
                always: .answer { request, _ in
                    PipelineResponse(request: request, statusCode: 200, data: try await request.body.collect(upTo: 100))
                }
            ),
            mode: .recordNew
        )
        let provider = bench.provider(transport) { request in
            request.body = .stream(
                AsyncStream { continuation in
                    continuation.yield(Data("sent".utf8))
                    continuation.finish()
                }
            )
        }
        #expect(try await provider.request(bench.target(method: .post)).data == Data("sent".utf8))
    }

    @Test("a body too large to compare is an error, and nothing is sent")
    func tooLargeToCompare() async throws {
        try bench.write(entries: [])
        let transport = try RecordingTransport(
            bench.file,
            wrapping: RecordingBench.forbidden,
            mode: .recordNew,
            bodyByteCount: 3
        )
        let provider = bench.provider(transport) { request in
            request.body = .stream(
                AsyncStream { continuation in
                    continuation.yield(Data("sent".utf8))
                    continuation.finish()
                }
            )
        }
        #expect(try await provider.failureCode(bench.target(method: .post)) == .limit(.bodyBytes))
    }
}
