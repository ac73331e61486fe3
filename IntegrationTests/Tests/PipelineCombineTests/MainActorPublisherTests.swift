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

/// The contents of a view, with closures isolated to the main actor; calling them elsewhere stops the program.
@MainActor
private final class Shelf {
    private(set) var titles: [String] = []
    private var subscriptions: [AnyCancellable] = []

    /// Shows each title, and returns when the publisher ends.
    func show(_ titles: some Publisher<String, PipelineError>) async {
        let (ends, continuation) = AsyncStream<Never>.makeStream()
        titles.sink { _ in
            self.titles.append("end")
            continuation.finish()
        } receiveValue: {
            self.titles.append($0)
        }
        .store(in: &subscriptions)
        for await _ in ends {}
    }
}

@Suite("Publishers and the main actor", .watched)
@MainActor
struct MainActorPublisherTests {
    private let provider = Provider<MultiTarget>(
        transport: ScriptedTransport(always: .status(200, body: #"{"title": "Eden"}"#))
    )

    @Test("A main-actor class subscribes to a client's publisher without a queue")
    func client() async {
        let shelf = Shelf()
        let api = APIClient(provider, server: ServerURL(base: "https://library.example"))
        await shelf.show(api.requestPublisher(APIRequest<Book>("books", "3")).map(\.title))
        #expect(shelf.titles == ["Eden", "end"])
    }

    @Test("A main-actor class subscribes to a provider's publisher without a queue")
    func provider() async {
        let shelf = Shelf()
        await shelf.show(provider.requestPublisher(Library.book(id: 3)).map(Book.self).map(\.title))
        #expect(shelf.titles == ["Eden", "end"])
    }

    @Test("A main-actor class subscribes to a progress publisher without a queue")
    func progress() async {
        let shelf = Shelf()
        let steps = provider.requestWithProgressPublisher(Library.book(id: 3))
        await shelf.show(steps.filterCompleted().map(Book.self).map(\.title))
        #expect(shelf.titles == ["Eden", "end"])
    }
}
