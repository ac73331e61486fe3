import Dispatch
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

/// The Combine samples in the guide ReactiveBridges.
private enum CombineSamples {
    static func call(
        _ provider: Provider<Library>,
        show: @escaping @Sendable (String) -> Void
    ) -> AnyCancellable {
        // sample: Combine call
        let subscription = provider.requestPublisher(.book(id: 3))
            .filterSuccessfulStatusCodes()
            .map(Book.self)
            .sink { completion in
                if case .failure(let error) = completion { show("\(error.code)") }
            } receiveValue: { book in
                show(book.title)
            }
        // end
        return subscription
    }

    static func progress(
        _ provider: Provider<Library>,
        show: @escaping @Sendable (Double) -> Void,
        keep: @escaping @Sendable (PipelineResponse) -> Void
    ) -> [AnyCancellable] {
        // sample: Combine progress
        let steps = provider.requestWithProgressPublisher(.book(id: 3)).multicast(subject: PassthroughSubject())
        let subscriptions = [
            steps.filterProgress().sink(receiveCompletion: { _ in }, receiveValue: { show($0) }),
            steps.filterCompleted().sink(receiveCompletion: { _ in }, receiveValue: { keep($0) }),
            AnyCancellable(steps.connect()),
        ]
        // end
        return subscriptions
    }
}

@Suite("Combine samples", .watched)
struct CombineSamplesTests {
    let shown = AsyncStream.makeStream(of: String.self)

    @Test("The title of a book is shown, or the code of the error")
    func call() async {
        let provider = Provider<Library>(
            transport: ScriptedTransport([.status(200, body: #"{"title":"Solaris"}"#), .status(404)])
        )
        var iterator = shown.stream.makeAsyncIterator()
        for expected in ["Solaris", "unacceptableStatus"] {
            let subscription = CombineSamples.call(provider) { [shown] in shown.continuation.yield($0) }
            #expect(await iterator.next() == expected)
            withExtendedLifetime(subscription) {}
        }
    }

    @Test("One call publishes both progress and response")
    func progress() async {
        let transport = ScriptedTransport(always: .status(200))
        let subscriptions = CombineSamples.progress(Provider<Library>(transport: transport)) { _ in
        } keep: { [shown] response in
            shown.continuation.yield("\(response.statusCode)")
        }
        var iterator = shown.stream.makeAsyncIterator()
        #expect(await iterator.next() == "200")
        #expect(transport.sent.count == 1)
        withExtendedLifetime(subscriptions) {}
    }
}
