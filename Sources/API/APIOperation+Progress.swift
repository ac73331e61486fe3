import Pipeline
import Synchronization

/// A step that an operation reports while it runs.
enum APIStep: Sendable {
    case started
    case failure(PipelineError)
    case progress(Double)
}

/// The receiver of an operation's steps, with the steps that it wants.
struct APIListener: Sendable {
    var hearsProgress = true
    /// Takes a step; returns whether it took it, as it does until the call is cancelled.
    let tell: @Sendable (APIStep) async -> Bool
}

extension APIOperation {
    /// Runs the operation, and delivers its steps one after the other.
    ///
    /// `started` comes first and once; progress is above 0, each step more than the last one, 1 at the end of a success. Progress that
    /// comes faster than it is taken is left out, failures are not.
    ///
    /// - Returns: the result; code `cancelled` for a success that could not be told any more.
    func run(in client: APIClient, telling listener: APIListener) async -> Result<Value, PipelineError> {
        let (signals, continuation) = AsyncStream<Void>.makeStream(bufferingPolicy: .bufferingNewest(1))
        let steps = PendingSteps { continuation.yield() }
        async let performed = {
            defer { continuation.finish() }
            return await run(in: client, observer: steps.observer(ofProgress: listener.hearsProgress))
        }()
        for await _ in signals {
            for step in steps.take() { _ = await listener.tell(step) }
        }
        let result = await performed
        guard listener.hearsProgress, case .success = result, await !listener.tell(.progress(1)) else { return result }
        return .failure(PipelineError(.cancelled, "the call was cancelled as it ended"))
    }
}

/// The steps that have not been told yet.
private final class PendingSteps: Sendable {
    private struct State {
        var hasStarted = false
        var steps: [APIStep] = []
        var progress = 0.0
        var toldProgress = 0.0
    }

    private let state = Mutex(State())
    private let signal: @Sendable () -> Void

    init(signal: @escaping @Sendable () -> Void) {
        self.signal = signal
    }

    func observer(ofProgress hearsProgress: Bool) -> APIObserver {
        var observer = APIObserver()
        observer.onStart = { self.start() }
        observer.onFailure = { self.add($0) }
        if hearsProgress { observer.onProgress = { self.advance(to: $0) } }
        return observer
    }

    func take() -> [APIStep] {
        state.withLock { state in
            defer { state.steps = [] }
            guard state.progress > state.toldProgress, state.progress < 1 else { return state.steps }
            state.toldProgress = state.progress
            return state.steps + [.progress(state.progress)]
        }
    }

    private func start() {
        let isFirst = state.withLock { state in
            guard !state.hasStarted else { return false }
            state.hasStarted = true
            state.steps.append(.started)
            return true
        }
        if isFirst { signal() }
    }

    private func add(_ failure: PipelineError) {
        state.withLock { $0.steps.append(.failure(failure)) }
        signal()
    }

    private func advance(to progress: Double) {
        state.withLock { $0.progress = max($0.progress, progress) }
        signal()
    }
}
