import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("Event subscriptions: requests", .tags(.concurrent), .watched)
struct ProviderServerSentEventsTests {
    private let bench = SubscriptionBench()

    @Test("The request has Accept and Cache-Control: no-cache unless the target sets these fields")
    func request() async {
        var (_, sent) = await bench.outcome(of: [.end])
        #expect(sent.map { $0.headers[.accept] } == ["text/event-stream"])
        #expect(sent.map { $0.headers[.cacheControl] } == ["no-cache"])
        #expect(bench.lastEventIDs(sent) == [nil])
        let target = TestTarget(headers: ["Accept": "a/b", "Cache-Control": "max-age=0", "Last-Event-ID": "t"])
        (_, sent) = await bench.outcome(of: [.events("data: 1\n\n"), .events("id: 2\n\n"), .end], target: target)
        #expect(sent.map { $0.headers[.accept] } == ["a/b", "a/b", "a/b"])
        #expect(sent.map { $0.headers[.cacheControl] } == ["max-age=0", "max-age=0", "max-age=0"])
        #expect(bench.lastEventIDs(sent) == ["t", "t", "2"])
    }

    @Test("A subscription resumes from the given ID, which is sent trimmed")
    func givenID() async {
        let (outcome, sent) = await bench.outcome(of: [.events("data: 1\n\n"), .end], lastEventID: " é 7\t")
        #expect(outcome.events.map(\.id) == [" é 7\t"])
        #expect(bench.lastEventIDs(sent) == ["é 7", "é 7"])
    }

    @Test("Each connection sends the target's method and body", arguments: ["POST", "REPORT"])
    func body(_ method: String) async {
        let target = TestTarget(
            method: HTTPRequest.Method(rawValue: method) ?? .get,
            task: .requestData(Data("{}".utf8)),
            headers: ["Content-Type": "application/json"]
        )
        let (_, sent) = await bench.outcome(of: [.events("id: 1\ndata: 1\n\n"), .end], target: target)
        #expect(sent.map(\.method.rawValue) == [method, method])
        #expect(sent.map(\.body.bytes) == [Data("{}".utf8), Data("{}".utf8)])
        #expect(sent.map { $0.headers[.contentType] } == ["application/json", "application/json"])
        #expect(bench.lastEventIDs(sent) == [nil, "1"])
    }

    @Test("Q01: A given ID that is not a valid header value fails with invalidRequest.headerValue before sending")
    func unsendableID() async {
        let (outcome, sent) = await bench.outcome(of: [.events("data: 1\n\n"), .end], lastEventID: "a\u{1}b")
        #expect(outcome.error?.code == .invalidRequest(.headerValue))
        #expect(sent.isEmpty)
    }

    @Test("Each connection runs the whole stack and gets its own token")
    func plugins() async {
        let count = Atomic(0)
        let token = PluginStack.prepare { request, _ in
            request.headers[.authorization] = "Bearer \(count.add(1, ordering: .relaxed).newValue)"
        }
        let transport = ScriptedTransport([.events("data: 1\n\n"), .failure(.connectionLost), .end])
        let provider = Provider<MultiTarget>(
            transport: transport,
            plugins: [token],
            configuration: .init(clock: bench.clock)
        )
        let outcome = await bench.outcome(of: provider.serverSentEvents(TestTarget()))
        #expect(outcome.data == ["1"])
        #expect(transport.sent.map { $0.headers[.authorization] } == ["Bearer 1", "Bearer 2", "Bearer 3"])
    }

    @Test("Nothing is sent before the first event is requested")
    func laziness() async throws {
        let transport = ScriptedTransport(always: .events("data: 1\n\n"))
        let events = Provider<TestTarget>(transport: transport, configuration: .init(clock: bench.clock))
            .serverSentEvents(TestTarget())
        var iterator = events.makeAsyncIterator()
        #expect(transport.sent.isEmpty)
        #expect(try await iterator.next()?.data == "1")
        #expect(transport.sent.count == 1)
    }
}
