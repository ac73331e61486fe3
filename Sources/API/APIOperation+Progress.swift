import PipelineCore
import Synchronization

/// A step that an operation reports while it runs.
enum APIStep: Sendable {
    case started
    case failure(PipelineError)
    case progress(Double)
}

/// The receiver of an operation's steps, with the kinds of step that it wants.
struct APIListener: Sendable {
    var hearsProgress = true
    /// Delivers a step and returns whether it was delivered, which is `false` once the call is cancelled.
    let tell: @Sendable (APIStep) async -> Bool
}

extension APIOperation {
    /// Runs the operation and delivers its steps one after another.
    ///
    /// `started` comes first, once. Progress is above 0 and increases with each step; it is 1 at the end of a success.
    /// Progress that arrives faster than it is delivered is skipped; failures are not.
    ///
    /// - Returns: the result; a failure with code `cancelled` if the call succeeded but its last step could not be
    ///   delivered.
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

/// The steps that have not been delivered yet.
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
