import Foundation
import Pipeline
import PipelineCaching
import PipelineRecording
import PipelineTesting
import TestSupport
import Testing

/// A session through plugins that change each hop, recorded and replayed.
@Suite("Recorded sessions with cookies, a cache, a signature and retries", .watched)
struct ReplayedSessionTests {
    private struct Call: TargetType {
        let method: HTTPRequest.Method
        let path: String
        var validationType: ValidationType { .anyStatus }
        var baseURL: URL { Endpoint.url("https://shop.example") }
        var task: RequestTask { method == .post ? .requestData(Data("{}".utf8)) : .requestPlain }
    }

    /// A plugin that signs each hop with the date and a random number, which are also part of the URL.
    private struct Signer: Stage.Exchange {
        func exchange(
            _ request: PipelineRequest,
            context: PipelineContext,
            send: Stage.Send
        ) async throws -> PipelineResponse {
            var request = request
            var random = context.random
            let number = UInt32.random(in: 0 ... .max, using: &random)
            request.appendQuery("at=\(context.clock.date.timeIntervalSince1970)&r=\(number)")
            try request.setHeader("\(number)", for: "X-Signature", isSecret: true)
            return try await send(request)
        }
    }

    /// Responds like a shop whose orders fail at first.
    private let shop = ScriptedTransport { request, index in
        switch String(request.path.prefix { $0 != "?" }) {
        case "/login":
            .status(302, headers: [.location: "/home", .setCookie: "sid=s3cr3t; Path=/; Max-Age=1000"])
        case "/home" where request.headers[.ifNoneMatch] != nil:
            .status(304, headers: [.eTag: "\"h\"", .cacheControl: "max-age=60"])
        case "/home":
            .status(200, headers: [.eTag: "\"h\"", .cacheControl: "max-age=60"], body: "home")
        default:
            index < 4 ? .status(503) : .status(201, body: "ordered")
        }
    }

    /// Runs the session and returns what the caller gets; `pass` lets time pass between two calls.
    private func run(
        over transport: any Transport,
        _ configuration: ProviderConfiguration,
        pass: (Duration) -> Void
    ) async throws -> [String] {
        let provider = Provider<Call>(
            transport: transport,
            plugins: [
                RetryPlugin(policy: RetryPolicy(statusCodes: [503]), backoff: .immediate),
                CookiePlugin(), CachePlugin(account: { _ in "a" }), Signer(),
            ],
            configuration: configuration
        )
        var lines: [String] = []
        func send(_ method: HTTPRequest.Method, _ path: String, hasKey: Bool = false) async throws {
            let response = try await provider.request(
                Call(method: method, path: path),
                options: RequestOptions { $0.idempotencyKey = hasKey ? .generated : nil }
            )
            let cache = response.cacheStatus?.kind.rawValue ?? ""
            lines.append("\(response.statusCode) \(String(decoding: response.data, as: UTF8.self)) \(cache)")
        }
        try await send(.post, "login")
        try await send(.get, "home")
        pass(.seconds(60))
        try await send(.get, "home")
        try await send(.post, "order", hasKey: true)
        return lines
    }

    /// Records the session and returns what the caller gets.
    private func record(_ file: URL, _ clock: ManualClock, mode: RecordingMode = .recordAll) async throws -> [String] {
        let recorder = try RecordingTransport(file, wrapping: shop, mode: mode)
        var configuration = recorder.configuration
        configuration.clock = PipelineClock(clock)
        let lines = try await run(over: recorder, configuration) { clock.advance(by: $0) }
        try await recorder.finish()
        return lines
    }

    private static let key: RequestMatching = HTTPField.Name("Idempotency-Key").map { [.header($0)] } ?? []

    @Test("A session with cookies, a cache, dated and random URLs, and a retry is replayed unchanged, twice")
    func session() async throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appending(path: "session.har")
        let recorded = try await record(file, ManualClock(date: Date(timeIntervalSince1970: 1_600_000_000)))
        #expect(recorded == ["200 home miss", "200 home hit", "200 home revalidated", "201 ordered bypass"])
        #expect(shop.sent.count == 5)
        #expect(try !String(contentsOf: file, encoding: .utf8).contains("s3cr3t"))
        for _ in 1...2 {
            let replay = try ReplayTransport(file, matching: .standard + Self.key)
            #expect(try await run(over: replay, replay.configuration) { replay.advance(by: $0) } == recorded)
            try replay.recording.assertAllUsed()
        }
    }

    @Test("A recording shows why the cache has sent each request")
    func forwardReasons() async throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appending(path: "session.har")
        _ = try await record(file, ManualClock())
        struct Recording: Decodable {
            struct Log: Decodable { let entries: [Entry] }
            struct Entry: Decodable { let cache: [String: String] }
            let log: Log
        }
        let recording = try JSONDecoder().decode(Recording.self, from: Data(contentsOf: file))
        let reasons = ["fwd=method", "fwd=uri-miss", "fwd=stale", "fwd=method", "fwd=method"]
        #expect(recording.log.entries.map(\.cache) == reasons.map { ["comment": $0] })
    }

    @Test("A request with other conditional, secret or signature fields than the recorded one is replayed")
    func otherFields() async throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appending(path: "fields.har")
        let recorder = try RecordingTransport(file, wrapping: ScriptedTransport(always: .status(200)), mode: .recordAll)
        func send(over transport: any Transport, _ value: String) async throws -> Int {
            let fields: any PluginType = .exchange(name: "fields") { request, _, send in
                var request = request
                for name in [HTTPField.Name.ifNoneMatch, .ifModifiedSince, .ifRange] {
                    request.headers[name] = "\"\(value)\""
                }
                try request.setHeader(value, for: "Signature")
                try request.setHeader(value, for: "Signature-Input")
                try request.setHeader(value, for: "X-Key", isSecret: true)
                return try await send(request)
            }
            let provider = Provider<Call>(transport: transport, plugins: [fields])
            return try await provider.request(Call(method: .get, path: "home")).statusCode
        }
        #expect(try await send(over: recorder, "a") == 200)
        try await recorder.finish()
        let replay = try ReplayTransport(file)
        #expect(try await send(over: replay, "b") == 200)
        try replay.recording.assertAllUsed()
    }

    @Test("A recorded pause changes the date, and ends no call with a timeout")
    func pause() async throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appending(path: "pause.har")
        let start = Date(timeIntervalSince1970: 1_600_000_000)
        let clock = ManualClock(date: start)
        let recorder = try RecordingTransport(file, wrapping: shop, mode: .recordAll)
        func provider(_ transport: any Transport, _ clock: PipelineClock) -> Provider<Call> {
            let timeout = TimeoutPlugin(attempt: .seconds(300), total: .seconds(300))
            return Provider(transport: transport, plugins: [timeout], configuration: .init(clock: clock))
        }
        let recording = provider(recorder, PipelineClock(clock))
        _ = try await recording.request(Call(method: .get, path: "home"))
        clock.advance(by: .seconds(600))
        _ = try await recording.request(Call(method: .get, path: "home"))
        try await recorder.finish()
        let replay = try ReplayTransport(file)
        let replaying = provider(replay, replay.configuration.clock)
        for seconds in [0.0, 600] {
            #expect(try await replaying.request(Call(method: .get, path: "home")).statusCode == 200)
            #expect(replay.configuration.clock.date == start + seconds)
        }
    }
}
