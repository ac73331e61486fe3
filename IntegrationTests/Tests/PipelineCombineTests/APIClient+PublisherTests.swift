import Dispatch
import Pipeline
import PipelineAPI
import PipelineCombine
import PipelineTesting
import TestSupport
import Testing

#if canImport(Combine)
import Combine
#else
import OpenCombine
#endif

@Suite("APIClient.requestPublisher", .tags(.concurrent), .watched)
struct APIClientPublisherTests {
    private let book = APIRequest<Book>("books", "3").addCustomError(.notFound, "There is no such book")

    private func api(_ transport: ScriptedTransport) -> APIClient {
        APIClient(Provider<MultiTarget>(transport: transport), server: ServerURL(base: "https://library.example/v1"))
    }

    @Test("C106 Nothing is sent without a subscription; each one sends a request and gets one value")
    func value() async {
        let transport = ScriptedTransport([
            .status(200, body: #"{"title": "Solaris"}"#), .status(200, body: #"{"title": "Eden"}"#),
        ])
        let publisher = api(transport).requestPublisher(book)
        #expect(transport.sent.isEmpty)
        for title in ["Solaris", "Eden"] {
            let outcome = await Outcome.of(publisher)
            #expect(outcome.values == [Book(title: title)] && outcome.failure == nil)
        }
        #expect(transport.sent.map(\.path) == ["/v1/books/3", "/v1/books/3"])
    }

    @Test("Nothing is sent without demand, and nothing is published after the subscription is cancelled")
    func demand() async {
        let transport = ScriptedTransport(always: .status(200, body: #"{"title": "Solaris"}"#))
        let probe = Probe<Book>()
        api(transport).requestPublisher(book).subscribe(probe)
        #expect(transport.sent.isEmpty)
        probe.cancel()
        probe.request(.max(1))
        #expect(await Outcome.of(api(transport).requestPublisher(book)).values.count == 1)
        #expect(transport.sent.count == 1 && probe.notes.values.isEmpty && probe.notes.endCount == 0)
    }

    @Test("C16 The failure is the request's error, with its text")
    func failure() async {
        let outcome = await Outcome.of(api(ScriptedTransport([.status(404)])).requestPublisher(book))
        #expect(outcome.values.isEmpty && outcome.failure?.code == .unacceptableStatus)
        #expect(outcome.failure?.message == "There is no such book")
    }

    @Test("A call that a plugin cancels fails with the code cancelled")
    func cancelledInside() async {
        let provider = Provider<MultiTarget>(
            transport: ScriptedTransport(always: .status(200)),
            plugins: [.prepare { _, _ in throw CancellationError() }]
        )
        let api = APIClient(provider, server: ServerURL(base: "https://library.example"))
        #expect(await Outcome.of(api.requestPublisher(book)).failure?.code == .cancelled)
    }

    @Test("Cancelling the subscription reaches the transport")
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
        let subscription = api(transport).requestPublisher(book)
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

    @Test("A chain publishes all of its values on the given queue")
    func chain() async {
        let key = DispatchSpecificKey<String>()
        let queue = DispatchQueue(label: "given")
        queue.setSpecific(key: key, value: "given")
        let transport = ScriptedTransport([.status(200, body: #"{"title": "Eden"}"#), .status(200, body: "7")])
        let chain = book.and(APIRequest<Int>("count"))
        let outcome = await Outcome.of(
            api(transport).requestPublisher(chain, callbackExecutor: .queue(queue))
                .map { "\($0.title) \($1) \(DispatchQueue.getSpecific(key: key) ?? "elsewhere")" }
        )
        #expect(outcome.values == ["Eden 7 given"])
    }
}
