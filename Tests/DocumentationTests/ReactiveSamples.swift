import Pipeline
import PipelineTesting
import TestSupport
import Testing

/// The samples of the guide ReactiveBridges for RxSwift and ReactiveSwift.
///
/// The package does not depend on these libraries, so this file declares fakes of the types that the samples use.
private enum ReactiveSamples {
    typealias Library = ReadmeProgram.Library

    static func rxSwift(_ provider: Provider<Library>) -> (Single<PipelineResponse>, Observable<ProgressResponse>) {
        // sample: RxSwift
        let book = Single.create { try await provider.request(.book(id: 3)) }
        let steps = provider.requestWithProgress(.book(id: 3)).asObservable()
        // end
        return (book, steps)
    }

    static func reactiveSwift(_ provider: Provider<Library>) -> SignalProducer<PipelineResponse, PipelineError> {
        // sample: ReactiveSwift
        let book = SignalProducer<PipelineResponse, PipelineError> { observer, lifetime in
            nonisolated(unsafe) let observer = observer  // a producer's observer may be used from any thread
            let call = provider.request(.book(id: 3)) { result in
                switch result {
                case .success(let response):
                    observer.send(value: response)
                    observer.sendCompleted()
                case .failure(let error):
                    observer.send(error: error)
                }
            }
            lifetime.observeEnded { call.cancel() }
        }
        // end
        return book
    }
}

@Suite("The samples for RxSwift and ReactiveSwift, with stand-ins", .watched)
struct ReactiveSamplesTests {
    typealias Library = ReadmeProgram.Library

    let events = AsyncStream.makeStream(of: String.self)

    /// Returns the next events; the stream does not end.
    func next(_ count: Int) async -> [String] {
        var iterator = events.stream.makeAsyncIterator()
        var found: [String] = []
        while found.count < count, let event = await iterator.next() { found.append(event) }
        return found
    }

    /// Records when it receives a request and when the call is cancelled.
    var hanging: Provider<Library> {
        Provider(
            transport: ScriptedTransport(
                always: .answer { [events] _, _ in
                    events.continuation.yield("sent")
                    let never = AsyncStream<Never> { _ in }
                    for await _ in never {}
                    events.continuation.yield("cancelled")
                    throw CancellationError()
                }
            )
        )
    }

    func provider(_ steps: [ScriptedTransport.Step]) -> Provider<Library> {
        Provider(transport: ScriptedTransport(steps))
    }

    @Test("A Single yields the response or the failure, and each subscription sends a new request")
    func single() async {
        let single = ReactiveSamples.rxSwift(provider([.status(200), .failure(.offline)])).0
        for expected in ["200", "offline"] {
            _ = single.subscribe { [events] result in
                switch result {
                case .success(let response): events.continuation.yield("\(response.statusCode)")
                case .failure(let error): events.continuation.yield("\((error as? PipelineError)?.code.rawValue ?? "")")
                }
            }
            #expect(await next(1) == [expected])
        }
    }

    @Test("Disposing of a Single cancels the call")
    func disposedSingle() async {
        let disposable = ReactiveSamples.rxSwift(hanging).0.subscribe { _ in }
        #expect(await next(1) == ["sent"])
        disposable.dispose()
        #expect(await next(1) == ["cancelled"])
    }

    @Test("An Observable emits the steps, then completes; disposing of it cancels the call")
    func observable() async {
        _ = ReactiveSamples.rxSwift(provider([.status(200)])).1.subscribe(
            AnyObserver(
                onNext: { [events] in events.continuation.yield("\($0.progress)") },
                onError: { _ in },
                onCompleted: { [events] in events.continuation.yield("completed") }
            )
        )
        #expect(await next(2) == ["1.0", "completed"])

        let disposable = ReactiveSamples.rxSwift(hanging).1
            .subscribe(AnyObserver(onNext: { _ in }, onError: { _ in }, onCompleted: {}))
        #expect(await next(1) == ["sent"])
        disposable.dispose()
        #expect(await next(1) == ["cancelled"])
    }

    @Test("A SignalProducer emits the response and completes, or fails; interrupting it cancels the call")
    func producer() async {
        for (step, expected) in [
            (ScriptedTransport.Step.status(200), ["200", "completed"]), (.failure(.offline), ["offline"]),
        ] {
            let producer = ReactiveSamples.reactiveSwift(provider([step]))
            _ = producer.start(
                Signal.Observer(
                    onValue: { [events] in events.continuation.yield("\($0.statusCode)") },
                    onError: { [events] in events.continuation.yield("\($0.code)") },
                    onCompleted: { [events] in events.continuation.yield("completed") }
                )
            )
            #expect(await next(expected.count) == expected)
        }
        let lifetime = ReactiveSamples.reactiveSwift(hanging)
            .start(Signal.Observer(onValue: { _ in }, onError: { _ in }, onCompleted: {}))
        #expect(await next(1) == ["sent"])
        lifetime.end()
        #expect(await next(1) == ["cancelled"])
    }
}

// MARK: RxSwift 6.8

private struct Disposable {
    let dispose: () -> Void
}

private struct Single<Element> {
    let subscribe: (@escaping (Result<Element, any Error>) -> Void) -> Disposable

    static func create(
        detached: Bool = false,
        priority: TaskPriority? = nil,
        work: @Sendable @escaping () async throws -> Element
    ) -> Single<Element> {
        Single { single in
            nonisolated(unsafe) let single = single
            let task = Task {
                do { single(.success(try await work())) } catch { single(.failure(error)) }
            }
            return Disposable { task.cancel() }
        }
    }
}

private struct AnyObserver<Element> {
    let onNext: (Element) -> Void
    let onError: (any Error) -> Void
    let onCompleted: () -> Void
}

private struct Observable<Element> {
    let subscribe: (AnyObserver<Element>) -> Disposable
}

extension AsyncSequence where Self: Sendable, AsyncIterator: SendableMetatype {
    fileprivate func asObservable() -> Observable<Element> {
        Observable { observer in
            nonisolated(unsafe) let observer = observer
            let task = Task {
                do {
                    for try await step in self { observer.onNext(step) }
                    observer.onCompleted()
                } catch is CancellationError {
                    observer.onCompleted()
                } catch {
                    observer.onError(error)
                }
            }
            return Disposable { task.cancel() }
        }
    }
}

// MARK: ReactiveSwift 7.2

private final class Lifetime {
    private var action: (() -> Void)?

    func observeEnded(_ action: @escaping () -> Void) {
        self.action = action
    }

    func end() {
        action?()
    }
}

private enum Signal<Value, Failure: Error> {
    struct Observer {
        let onValue: (Value) -> Void
        let onError: (Failure) -> Void
        let onCompleted: () -> Void

        func send(value: Value) { onValue(value) }
        func send(error: Failure) { onError(error) }
        func sendCompleted() { onCompleted() }
    }
}

private struct SignalProducer<Value, Failure: Error> {
    private let startHandler: (Signal<Value, Failure>.Observer, Lifetime) -> Void

    init(_ startHandler: @escaping (Signal<Value, Failure>.Observer, Lifetime) -> Void) {
        self.startHandler = startHandler
    }

    func start(_ observer: Signal<Value, Failure>.Observer) -> Lifetime {
        let lifetime = Lifetime()
        startHandler(observer, lifetime)
        return lifetime
    }
}
