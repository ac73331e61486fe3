import Foundation
import HTTPTypes
import Pipeline
import PipelinePlugins
import PipelineRecording
import PipelineTesting
import TestSupport
import Testing

/// A session through plugins that change each hop, recorded and replayed.
@Suite("Recorded sessions with cookies, a cache, a signature and retries")
struct ReplayedSessionTests {
    private struct Call: TargetType {
        let method: HTTPRequest.Method
        let path: String
        var validationType: ValidationType { .anyStatus }
        var baseURL: URL { Endpoint.url("https://shop.example") }
        var task: RequestTask { method == .post ? .requestData(Data("{}".utf8)) : .requestPlain }
    }

    /// A plugin that signs each hop with the time, so that no two signatures are equal.
    private struct Signer: Stage.Exchange {
        let nonce: String

        func exchange(
            _ request: PipelineRequest,
            context: PipelineContext,
            send: Stage.Send
        ) async throws -> PipelineResponse {
            var request = request
            try request.setHeader("\(nonce) \(context.callID)", for: "X-Signature", isSecret: true)
            return try await send(request)
        }
    }

    /// Responds like a shop whose orders fail at first.
    private let shop = ScriptedTransport { request, index in
        switch request.path {
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

    /// Runs the session and returns what the caller gets.
    private func run(over transport: any Transport, nonce: String) async throws -> [String] {
        let clock = ManualClock()
        let provider = Provider<Call>(
            transport: transport,
            plugins: [
                RetryPlugin(policy: RetryPolicy(statusCodes: [503]), backoff: .constant(.zero)), CookiePlugin(),
                CachePlugin(account: { _ in "a" }), Signer(nonce: nonce),
            ],
            configuration: .init(clock: clock)
        )
        var lines: [String] = []
        func send(_ method: HTTPRequest.Method, _ path: String, key: String? = nil) async throws {
            let response = try await provider.request(
                Call(method: method, path: path),
                options: RequestOptions { $0.idempotencyKey = key.map { RetryPlugin.IdempotencyKey($0) } }
            )
            let cache = response.cacheStatus?.kind.rawValue ?? ""
            lines.append("\(response.statusCode) \(String(decoding: response.data, as: UTF8.self)) \(cache)")
        }
        try await send(.post, "login")
        try await send(.get, "home")
        clock.advance(by: .seconds(60))
        try await send(.get, "home")
        try await send(.post, "order", key: "k1")
        return lines
    }

    @Test("A login, a redirect, a cached page, a signed order and its retry are replayed with other signatures, twice")
    func session() async throws {
        let folder = try TemporaryFolder()
        let file = folder.url.appending(path: "session.har")
        let recorder = try RecordingTransport(file, wrapping: shop, mode: .recordAll)
        let recorded = try await run(over: recorder, nonce: "first")
        try await recorder.finish()
        #expect(recorded == ["200 home miss", "200 home hit", "200 home revalidated", "201 ordered bypass"])
        #expect(shop.sent.count == 5)
        #expect(try !String(contentsOf: file, encoding: .utf8).contains("s3cr3t"))
        for nonce in ["second", "third"] {
            #expect(try await run(over: try ReplayTransport(file), nonce: nonce) == recorded)
        }
    }
}
