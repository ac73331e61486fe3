public import Dispatch
import Synchronization

/// An operation that is answered by callbacks.
///
/// ```swift
/// let handle = api.call(AuthController.login(email: email, password: password))
///     .deliver(on: .main)
///     .onSuccess { show($0.token) }
///     .onNotAuthorized { showWrongPassword() }
///     .onError { show($0.message) }
///     .execute()
/// handle.cancel()
/// ```
///
/// It is a value: each method gives a copy, and setting a handler starts nothing. Each `execute()` is a call of its own.
///
/// **Effects**: of one call, handlers run one after the other: `onRequestStarted` once, then `onProgress`, then exactly one of the others
/// once. That is the special one for what happened, when it is set, else `onError`; none when neither is. A call that is cancelled
/// before its end was delivered ends in `onCancellation`, also when its answer was there already, and tells of no progress then. One
/// that is cancelled before it began starts nothing, and its `onRequestStarted` does not run. The call goes on when its handle is dropped.
///
/// | handler | when |
/// |---|---|
/// | `onSuccess` | there is a value |
/// | `onNotAuthorized` | `unacceptableStatus` with status 401 |
/// | `onTimeout` | `timeout` and its details |
/// | `onNetworkUnavailable` | `offline` |
/// | `onCancellation` | `cancelled` |
/// | `onError` | every other failure, and those above that have no handler |
///
/// **Defaults**: handlers run on a background executor.
public struct APICall<Value: Sendable>: Sendable {
    typealias Report = @Sendable (Double) -> Void

    private struct Handlers: Sendable {
        var requestStarted: (@Sendable () -> Void)?
        var progress: Report?
        var success: (@Sendable (Value) -> Void)?
        var error: (@Sendable (PipelineError) -> Void)?
        var notAuthorized: (@Sendable () -> Void)?
        var networkUnavailable: (@Sendable () -> Void)?
        var timeout: (@Sendable () -> Void)?
        var cancellation: (@Sendable () -> Void)?
    }

    private let perform: @Sendable (Report?) async -> Result<Value, PipelineError>
    private var handlers = Handlers()
    private var place = CallbackPlace.background

    init(_ perform: @escaping @Sendable (Report?) async -> Result<Value, PipelineError>) {
        self.perform = perform
    }

    private func with(_ change: (inout APICall) -> Void) -> APICall {
        var copy = self
        change(&copy)
        return copy
    }
}

extension APICall {
    /// A copy whose handlers run on a queue.
    public func deliver(on queue: DispatchQueue) -> APICall { with { $0.place = .queue(queue) } }

    /// A copy whose handlers run on an actor, for example `MainActor.shared`.
    public func deliver(on actor: any Actor) -> APICall { with { $0.place = .actor(actor) } }

    /// A copy that tells when a call begins, once.
    public func onRequestStarted(_ handler: @escaping @Sendable () -> Void) -> APICall {
        with { $0.handlers.requestStarted = handler }
    }

    /// A copy that tells how far a call has come: from 0 to 1, never less than before, 1 exactly once, before `onSuccess`.
    ///
    /// Steps that come faster than the handler takes them are left out.
    public func onProgress(_ handler: @escaping @Sendable (Double) -> Void) -> APICall {
        with { $0.handlers.progress = handler }
    }

    /// A copy that gives the value of a call.
    public func onSuccess(_ handler: @escaping @Sendable (Value) -> Void) -> APICall {
        with { $0.handlers.success = handler }
    }

    /// A copy that tells of every failure for which no special handler is set.
    public func onError(_ handler: @escaping @Sendable (PipelineError) -> Void) -> APICall {
        with { $0.handlers.error = handler }
    }

    /// A copy that tells of an answer with status 401 that is not desired.
    public func onNotAuthorized(_ handler: @escaping @Sendable () -> Void) -> APICall {
        with { $0.handlers.notAuthorized = handler }
    }

    /// A copy that tells that the network is not there.
    public func onNetworkUnavailable(_ handler: @escaping @Sendable () -> Void) -> APICall {
        with { $0.handlers.networkUnavailable = handler }
    }

    /// A copy that tells that time ran out.
    public func onTimeout(_ handler: @escaping @Sendable () -> Void) -> APICall {
        with { $0.handlers.timeout = handler }
    }

    /// A copy that tells that the call was cancelled.
    public func onCancellation(_ handler: @escaping @Sendable () -> Void) -> APICall {
        with { $0.handlers.cancellation = handler }
    }
}

extension APICall {
    /// Begins a call.
    ///
    /// - Returns: a handle that cancels it.
    @discardableResult
    public func execute() -> RequestHandle {
        RequestHandle(task: Task { await run() })
    }

    func run() async {
        let cancellation = Cancellation()
        await withTaskCancellationHandler {
            let result = await outcome(cancellation)
            await place.run { end(cancellation.isRequested ? .failure(.cancelledCall) : result) }
        } onCancel: {
            cancellation.request()
        }
    }

    private func outcome(_ cancellation: Cancellation) async -> Result<Value, PipelineError> {
        if cancellation.isRequested { return .failure(.cancelledCall) }
        if let started = handlers.requestStarted { await place.run(started) }
        if cancellation.isRequested { return .failure(.cancelledCall) }
        guard let progress = handlers.progress else { return await perform(nil) }

        let (steps, continuation) = AsyncStream<Double>.makeStream(bufferingPolicy: .bufferingNewest(1))
        async let performed = {
            defer { continuation.finish() }
            return await perform { continuation.yield($0) }
        }()
        for await step in steps where step < 1 {
            await place.run { if !cancellation.isRequested { progress(step) } }
        }
        let result = await performed
        if case .success = result { await place.run { if !cancellation.isRequested { progress(1) } } }
        return result
    }
}

extension APICall {
    /// Tells of the end, once.
    private func end(_ result: Result<Value, PipelineError>) {
        switch result {
        case .success(let value):
            handlers.success?(value)
        case .failure(let error):
            if let special = special(for: error) { special() } else { handlers.error?(error) }
        }
    }

    private func special(for error: PipelineError) -> (@Sendable () -> Void)? {
        switch error.code {
        case .cancelled: handlers.cancellation
        case .timeout: handlers.timeout
        case .offline: handlers.networkUnavailable
        case .unacceptableStatus where error.response?.statusCode == 401: handlers.notAuthorized
        default: nil
        }
    }
}

extension PipelineError {
    fileprivate static var cancelledCall: PipelineError { PipelineError(.cancelled, "the call was cancelled") }
}

/// Whether a call was cancelled, for code that runs outside its task.
private final class Cancellation: Sendable {
    private let flag = Atomic(false)

    var isRequested: Bool { flag.load(ordering: .acquiring) }

    func request() { flag.store(true, ordering: .releasing) }
}
