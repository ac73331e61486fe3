import Foundation
import Pipeline
import PipelineRecording
import PipelineTesting
import TestSupport
import Testing

@Suite("What a recording knows of the time and the connection of an exchange", .watched)
struct RecordedTimingsTests {
    private struct Log: Decodable {
        struct File: Decodable { let log: Log }
        struct Span: Decodable {
            let id: Int
            let parent: Int?
            let kind: String
            let name: String
            let start: Double
            let duration: Double?
            let outcome: String?
        }
        struct Call: Decodable {
            let call: Int
            let attempt: Int
            let hop: Int
            let spans: [Span]
        }
        struct Message: Decodable { let httpVersion: String }
        struct Entry: Decodable {
            let time: Double
            let timings: [String: Double]
            let request: Message
            let serverIPAddress: String?
            let connection: String?
            let _pipeline: Call?
        }
        let entries: [Entry]
    }

    private let bench: RecordingBench

    init() throws { bench = try RecordingBench() }

    /// Records one call to `/a`, and returns the entries of the file.
    private func record(
        timeline: Bool = false,
        plugins: [any PluginType] = [],
        redactor: Redactor = Redactor(),
        _ answer: @escaping @Sendable (PipelineRequest, PipelineContext) throws -> PipelineResponse
    ) async throws -> [Log.Entry] {
        let recorder = try RecordingTransport(
            bench.file,
            wrapping: ScriptedTransport { _, _ in .answer(answer) },
            mode: .recordAll,
            redactor: redactor
        )
        let configuration = ProviderConfiguration(clock: bench.clock, timeline: timeline)
        let provider = Provider<Probe>(transport: recorder, plugins: plugins, configuration: configuration)
        _ = try? await provider.request(bench.target("/a"))
        try await recorder.finish()
        return try JSONDecoder().decode(Log.File.self, from: Data(contentsOf: bench.file)).log.entries
    }

    @Test("An entry has the times and the connection that the transport has reported")
    func reported() async throws {
        let clock = bench.clock
        let entry = try await record { request, context in
            context.report(.connectionAwaited)
            clock.advance(by: .milliseconds(10))
            let facts = PipelineExchange.Connection(
                protocolVersion: "2",
                peerAddress: "192.0.2.1",
                peerPort: 443,
                localPort: 50_000,
                isReused: false
            )
            context.report(.connection(facts))
            clock.advance(by: .milliseconds(20))
            context.report(.phases { $0.requestSent = context.clock.now })
            clock.advance(by: .milliseconds(30))
            let pieces = AsyncStream<Data> {
                clock.advance(by: .milliseconds(40))
                return nil
            }
            return PipelineResponse(request: request, head: HTTPResponse(status: .ok), body: .stream(pieces))
        }.first
        #expect(entry?.timings == ["blocked": 10, "send": 20, "wait": 30, "receive": 40])
        #expect(entry?.time == 100)
        #expect(entry?.serverIPAddress == "192.0.2.1")
        #expect(entry?.connection == "50000")
        #expect(entry?.request.httpVersion == "HTTP/2")
        #expect(entry?._pipeline == nil)
    }

    @Test("Without reports, the time to the header fields is a wait, and nothing is said of the connection")
    func unreported() async throws {
        let clock = bench.clock
        let entry = try await record { request, _ in
            clock.advance(by: .milliseconds(30))
            return PipelineResponse(request: request, statusCode: 200)
        }.first
        #expect(entry?.timings == ["send": 0, "wait": 30, "receive": 0])
        #expect(entry?.serverIPAddress == nil)
        #expect(entry?.connection == nil)
        #expect(entry?.request.httpVersion == "")
    }

    @Test("A response that begins before the request has been sent leaves no negative time")
    func early() async throws {
        let clock = bench.clock
        let entry = try await record { request, context in
            context.report(.connection())
            clock.advance(by: .milliseconds(10))
            let pieces = AsyncStream<Data> {
                clock.advance(by: .milliseconds(40))
                context.report(.phases { $0.requestSent = context.clock.now })
                return nil
            }
            return PipelineResponse(request: request, head: HTTPResponse(status: .ok), body: .stream(pieces))
        }.first
        #expect(entry?.timings == ["send": 10, "wait": 0, "receive": 40])
        #expect(entry?.time == 50)
    }

    @Test("With timelines, an entry has its place in the call, and the spans so far, without secrets")
    func spans() async throws {
        let clock = bench.clock
        let wait: any PluginType = .intercept(name: "wait") { request, context, next in
            await context.recordSpan("for s3cr3t-canary", as: .wait) { clock.advance(by: .milliseconds(5)) }
            return try await next(request)
        }
        let redactor = Redactor(secretValues: ["s3cr3t-canary"])
        let entries = try await record(timeline: true, plugins: [wait], redactor: redactor) { request, _ in
            clock.advance(by: .milliseconds(30))
            return PipelineResponse(request: request, statusCode: 200)
        }
        let call = try #require(entries.first?._pipeline)
        #expect((call.attempt, call.hop) == (1, 0))
        let lines = call.spans.map { span in
            let end = span.duration.map { "\($0)" } ?? "open"
            return "\(span.id) in \(span.parent ?? -1): \(span.kind) \(span.name) \(span.start) \(end)"
        }
        #expect(
            lines == [
                "0 in -1: call GET https://api.example/a 0.0 open", "1 in 0: encode Probe 0.0 0.0",
                "2 in 0: intercept wait 0.0 open", "3 in 2: wait for REDACTED 0.0 5.0",
                "4 in 2: wire GET https://api.example/a 5.0 open",
            ]
        )
        #expect(!bench.text.contains("canary"))
    }
}
