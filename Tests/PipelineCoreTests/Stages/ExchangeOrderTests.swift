import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("Exchange stage: six plugins in all orders", .tags(.concurrent), .watched)
struct ExchangeOrderTests {
    enum Kind: CaseIterable {
        case buffered, streamed, downloaded
    }

    /// Counts what crosses the wire.
    private final class Observer: Stage.WillSend, Stage.DidReceive {
        let counts = Mutex((sent: 0, received: 0))
        var name: String { "Observer" }

        func willSend(_ request: PipelineRequest, context: PipelineContext) { counts.withLock { $0.sent += 1 } }

        func didReceive(_ result: Result<PipelineResponse, PipelineError>, context: PipelineContext) {
            counts.withLock { $0.received += 1 }
        }
    }

    /// The server for the six plugins; each body is a stream of two pieces.
    private func server(_ checkpoints: Checkpoints = Checkpoints()) -> ScriptedTransport {
        let counts = Mutex<[String: Int]>([:])
        return ScriptedTransport { request, _ in
            let path = request.path
            let count = counts.withLock { counts in
                defer { counts[path, default: 0] += 1 }
                return counts[path, default: 0]
            }
            return .answer { request, _ in
                try await checkpoints.pass()
                let (status, fields, body) = ExchangeUsers.answer(to: path, after: count)
                let pieces = Mutex([body.prefix(2), body.dropFirst(2)][...])
                let stream = AsyncThrowingStream<Data, any Error> {
                    try await checkpoints.pass()
                    return pieces.withLock { $0.popFirst() }.map { Data($0.utf8) }
                }
                let head = HTTPResponse(status: .init(code: status), headerFields: fields)
                return PipelineResponse(request: request, head: head, body: .stream(stream))
            }
        }
    }

    /// What the caller reads of a call.
    private func text(
        _ provider: Provider<TestTarget>,
        _ target: TestTarget,
        _ kind: Kind
    ) async throws -> (String, PipelineResponse) {
        switch kind {
        case .buffered:
            let response = try await provider.request(target)
            return (String(decoding: response.data, as: UTF8.self), response)
        case .streamed:
            let response = try await provider.stream(target)
            var data = Data()
            for try await piece in response.body { data += piece }
            return (String(decoding: data, as: UTF8.self), response.response)
        case .downloaded:
            let folder = try TemporaryFolder()
            var target = target
            target.task = .downloadDestination(.file(folder.file("f")))
            let response = try await provider.request(target)
            return (folder.text(of: "f") ?? "", response)
        }
    }

    private let target = TestTarget(base: "https://api.example.com", path: "/start")

    @Test("The response comes from the cache on hop 2, whatever the order", arguments: Kind.allCases)
    func orders(kind: Kind) async throws {
        let orders = ExchangeUsers.orders(of: 6)
        #expect(Set(orders).count == 720)
        for order in orders {
            let transport = server()
            let observer = Observer()
            let users = ExchangeUsers(order: order)
            let provider = Provider<TestTarget>(transport: transport, plugins: users.plugins + [observer])
            let (text, response) = try await text(provider, target, kind)
            #expect(text == "cached", "\(order)")
            #expect(response.source == .cache)
            #expect(response.exchanges.map { "\($0.hop) \($0.statusCode ?? 0)" } == ["0 302", "1 503", "1 307"])
            #expect(transport.sent.map(\.path) == ["/start", "/hop", "/hop"])
            #expect(transport.sent.map { $0.headers[.cookie] } == [nil, "s=1", "s=1"])
            #expect(transport.sent.allSatisfy { $0.headers[ExchangeUsers.signature] == "GET \($0.path)" })
            #expect(users.limiter.counts == (0, 1))
            #expect(observer.counts.withLock { $0 } == (3, 3))
        }
    }

    @Test("Without a connection the fallback response is returned, whatever the order", arguments: Kind.allCases)
    func offline(kind: Kind) async throws {
        for order in ExchangeUsers.orders(of: 6) {
            let transport = ScriptedTransport(always: .failure(.connect(.refused)))
            let users = ExchangeUsers(order: order)
            let provider = Provider<TestTarget>(transport: transport, plugins: users.plugins)
            let (text, response) = try await text(provider, target, kind)
            #expect(text == "offline", "\(order)")
            #expect(response.source == .fallback)
            #expect(response.exchanges.map(\.failure) == [.connect(.refused)])
            #expect(users.limiter.counts == (0, 1))
        }
    }

    @Test(
        "A call cancelled at any await throws CancellationError and leaves nothing in flight",
        arguments: Kind.allCases
    )
    func cancelled(kind: Kind) async throws {
        for order in [[0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0], [3, 0, 5, 1, 4, 2]] {
            let all = Checkpoints()
            let whole = Provider<TestTarget>(
                transport: server(all),
                plugins: ExchangeUsers(order: order, all).plugins
            )
            _ = try await text(whole, target, kind)
            #expect(all.count > 20)
            for point in 0..<all.count {
                let checkpoints = Checkpoints(blocking: point)
                let observer = Observer()
                let users = ExchangeUsers(order: order, checkpoints)
                let provider = Provider<TestTarget>(
                    transport: server(checkpoints),
                    plugins: users.plugins + [observer]
                )
                let call = Task { try await text(provider, target, kind) }
                await eventually { checkpoints.isBlocked }
                call.cancel()
                await #expect(throws: CancellationError.self, "\(order), point \(point)") { _ = try await call.value }
                #expect(users.limiter.counts.now == 0)
                #expect(observer.counts.withLock { $0.sent == $0.received }, "\(order), point \(point)")
                // The next call works.
                #expect(try await text(provider, target, kind).0 == "cached")
            }
        }
    }
}
