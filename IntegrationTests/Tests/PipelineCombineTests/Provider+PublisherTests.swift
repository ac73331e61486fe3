import Dispatch
import Foundation
import Pipeline
import PipelineCombine
import PipelineTesting
import Synchronization
import TestSupport
import Testing

#if canImport(Combine)
import Combine
#else
import OpenCombine
#endif

@Suite("requestPublisher", .tags(.concurrent), .watched)
struct ProviderPublisherTests {
    @Test("M178 M179 Each subscription sends its own request and gets one value, then the end")
    func value() async {
        let transport = ScriptedTransport([.status(200, body: "one"), .status(404, body: "two")])
        let publisher = Provider<Library>(transport: transport).requestPublisher(.book(id: 3))
        for (status, body) in [(200, "one"), (404, "two")] {
            let outcome = await Outcome.of(publisher)
            #expect(outcome.values.map(\.statusCode) == [status])
            #expect(outcome.values.map { String(decoding: $0.data, as: UTF8.self) } == [body])
            #expect(outcome.failure == nil)
        }
        #expect(transport.sent.map(\.path) == ["/v1/books/3", "/v1/books/3"])
    }

    @Test("M179 The failure is the call's error")
    func failure() async {
        let provider = Provider<Library>(transport: ScriptedTransport([.failure(.offline)]))
        let outcome = await Outcome.of(provider.requestPublisher(.book(id: 3)))
        #expect(outcome.values.isEmpty)
        #expect(outcome.failure?.code == .offline)
        #expect(outcome.failure?.request?.path == "/v1/books/3")
    }

    @Test("Options are passed to the call")
    func options() async {
        let seen = Mutex<[Duration?]>([])
        let provider = Provider<Library>(
            transport: ScriptedTransport(always: .status(200)),
            plugins: [.willSend { _, context in seen.withLock { $0.append(context.options.attemptTimeout) } }]
        )
        let options = RequestOptions { $0.attemptTimeout = .seconds(5) }
        _ = await Outcome.of(provider.requestPublisher(.book(id: 3), options: options))
        #expect(seen.withLock { $0 } == [.seconds(5)])
    }

    @Test("M12 A provider of MultiTarget publishes calls of any target")
    func anyTarget() async {
        let transport = ScriptedTransport(always: .status(200))
        let provider = Provider<MultiTarget>(transport: transport)
        #expect(await Outcome.of(provider.requestPublisher(Library.book(id: 1))).values.count == 1)
        #expect(await Outcome.of(provider.requestPublisher(MultiTarget(Library.book(id: 2)))).values.count == 1)
        #expect(transport.sent.map(\.path) == ["/v1/books/1", "/v1/books/2"])
    }

    @Test("B-M41 The publisher retains its provider")
    func held() async {
        weak var released: Provider<Library>?
        let publisher: AnyPublisher<PipelineResponse, PipelineError>
        do {
            let provider = Provider<Library>(transport: ScriptedTransport(always: .status(200)))
            released = provider
            publisher = provider.requestPublisher(.book(id: 3))
        }
        #expect(released != nil)
        #expect(await Outcome.of(publisher).values.map(\.statusCode) == [200])
    }

    @Test("M121 Cancelling the subscription reaches the transport")
    func cancel() async {
        let events = AsyncStream.makeStream(of: String.self)
        let transport = ScriptedTransport(
            always: .answer { _, _ in
                events.continuation.yield("sent")
                let never = AsyncStream<Never> { _ in }
                for await _ in never {}
                events.continuation.yield(Task.isCancelled ? "cancelled" : "ended")
                throw CancellationError()
            }
        )
        let subscription = Provider<Library>(transport: transport).requestPublisher(.book(id: 3))
            .sink { _ in
                events.continuation.yield("end")
            } receiveValue: { _ in
                events.continuation.yield("value")
            }
        var iterator = events.stream.makeAsyncIterator()
        #expect(await iterator.next() == "sent")
        subscription.cancel()
        #expect(await iterator.next() == "cancelled")
        events.continuation.finish()
        #expect(await iterator.next() == nil)
    }

    @Test("A call that a plugin cancels fails with the code cancelled")
    func cancelledInside() async {
        let provider = Provider<Library>(
            transport: ScriptedTransport(always: .status(200)),
            plugins: [.prepare { _, _ in throw CancellationError() }]
        )
        let outcome = await Outcome.of(provider.requestPublisher(.book(id: 3)))
        #expect(outcome.failure?.code == .cancelled)
    }

    @Test(
        "M183 Events arrive on the call's queue, else on the provider's, else on the main queue",
        arguments: ["given", "own", "main"]
    )
    func queues(_ expected: String) async {
        let key = DispatchSpecificKey<String>()
        let (given, own) = (DispatchQueue(label: "given"), DispatchQueue(label: "own"))
        for queue in [given, own] { queue.setSpecific(key: key, value: queue.label) }
        DispatchQueue.main.setSpecific(key: key, value: "main")
        defer { DispatchQueue.main.setSpecific(key: key, value: nil) }
        let provider = Provider<Library>(
            transport: ScriptedTransport(always: .status(200)),
            configuration: .init(callbackExecutor: expected == "main" ? nil : .queue(own))
        )
        let places = AsyncStream.makeStream(of: String?.self)
        let subscription = provider.requestPublisher(
            .book(id: 3),
            callbackExecutor: expected == "given" ? .queue(given) : nil
        )
        .sink { _ in
            places.continuation.yield(DispatchQueue.getSpecific(key: key))
            places.continuation.finish()
        } receiveValue: { _ in
            places.continuation.yield(DispatchQueue.getSpecific(key: key))
        }
        var found: [String?] = []
        for await place in places.stream { found.append(place) }
        withExtendedLifetime(subscription) {}
        #expect(found == [expected, expected])
    }
}
