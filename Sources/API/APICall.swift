public import Dispatch
public import Pipeline
import Synchronization

/// A call of an operation that reports to callbacks.
///
/// ```swift
/// let handle = api.call(AuthController.login(email: email, password: password))
///     .onSuccess { show($0.token) }
///     .onNotAuthorized { showWrongPassword() }
///     .onError { show($0.message) }
///     .execute()
/// handle.cancel()
/// ```
///
/// It is a value: each method returns a copy, and setting a handler starts nothing. Each `execute()` is a call of its own.
///
/// **Effects**: the handlers of one call run one after the other: `onRequestStarted` once, when the first request is handed to
/// the transport; then `onProgress`; then exactly one of the others, once. That is the specific handler for the outcome if it is
/// set, else `onError`; none if neither is set. A batch with ``APIBatch/avoidCancelOnError(except:exceptCodes:exceptKinds:)`` also calls
/// `onError` for each failure, as it happens. A call that is cancelled before its end was delivered ends in `onCancellation`,
/// even if its response had arrived, and reports no progress from then on. `onRequestStarted` does not run for a call that fails
/// or is cancelled before anything is sent, that shares the exchange of another call, or that a plugin responds to. The call
/// continues when its handle is dropped.
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
/// A handler that is isolated to an actor runs on it: one written in a view is isolated to the main actor and may use the view,
/// one that captures the `self` of another actor is isolated to that actor. With `[weak self]` it is not, and calls `Task {
/// await self?.show() }`. Any other handler runs on the queue of ``deliver(on:)``, else on that of the provider, else on a
/// background executor, where it must not wait for another call; use a queue for a handler that blocks its thread.
public struct APICall<Value: Sendable>: Sendable {
    /// A handler without a parameter.
    public typealias Handler = @isolated(any) @Sendable () -> Void
    private struct Handlers: Sendable {
        var requestStarted: Handler?
        var progress: (@isolated(any) @Sendable (Double) -> Void)?
        var success: (@isolated(any) @Sendable (Value) -> Void)?
        var plainSuccess: Handler?
        var error: (@isolated(any) @Sendable (PipelineError) -> Void)?
        var notAuthorized: Handler?
        var networkUnavailable: Handler?
        var timeout: Handler?
        var cancellation: Handler?
    }

    typealias Perform = @Sendable (APIListener?) async -> Result<Value, PipelineError>

    /// Is called as a call begins.
    let prepare: @Sendable () -> Perform
    private var handlers = Handlers()
    private var place: CallbackPlace

    init(on queue: DispatchQueue?, prepare: @escaping @Sendable () -> Perform) {
        place = CallbackPlace(queue: queue)
        self.prepare = prepare
    }

    private func with(_ change: (inout APICall) -> Void) -> APICall {
        var copy = self
        change(&copy)
        return copy
    }
}

extension APICall {
    /// Returns a copy whose handlers run on a queue, except those that are isolated to an actor.
    public func deliver(on queue: DispatchQueue) -> APICall { with { $0.place.queue = queue } }

    /// Returns a copy with a handler that runs once, when the first request of the call is handed to the transport.
    public func onRequestStarted(@_inheritActorContext _ handler: @escaping Handler) -> APICall {
        with { $0.handlers.requestStarted = handler }
    }

    /// Returns a copy with a handler of progress: increasing steps above 0 and up to 1, of which 1 comes exactly once, before
    /// `onSuccess`.
    ///
    /// Steps that arrive faster than the handler returns are skipped.
    public func onProgress(
        @_inheritActorContext _ handler: @escaping @isolated(any) @Sendable (Double) -> Void
    ) -> APICall {
        with { $0.handlers.progress = handler }
    }

    /// Returns a copy with a handler of the value.
    public func onSuccess(
        @_inheritActorContext _ handler: @escaping @isolated(any) @Sendable (Value) -> Void
    ) -> APICall {
        with {
            $0.handlers.success = handler
            $0.handlers.plainSuccess = nil
        }
    }

    /// Returns a copy with a handler of every failure for which no special handler is set, and of each failure that a batch
    /// survives.
    public func onError(
        @_inheritActorContext _ handler: @escaping @isolated(any) @Sendable (PipelineError) -> Void
    ) -> APICall {
        with { $0.handlers.error = handler }
    }

    /// Returns a copy with a handler of a response with status 401, unless that status is desired.
    public func onNotAuthorized(@_inheritActorContext _ handler: @escaping Handler) -> APICall {
        with { $0.handlers.notAuthorized = handler }
    }

    /// Returns a copy with a handler that runs when the device is offline.
    public func onNetworkUnavailable(@_inheritActorContext _ handler: @escaping Handler) -> APICall {
        with { $0.handlers.networkUnavailable = handler }
    }

    /// Returns a copy with a handler that runs when the call times out.
    public func onTimeout(@_inheritActorContext _ handler: @escaping Handler) -> APICall {
        with { $0.handlers.timeout = handler }
    }

    /// Returns a copy with a handler that runs when the call is cancelled.
    public func onCancellation(@_inheritActorContext _ handler: @escaping Handler) -> APICall {
        with { $0.handlers.cancellation = handler }
    }
}

extension APICall where Value == IgnoredBody {
    /// Returns a copy with a handler that runs when the call succeeds.
    public func onSuccess(@_inheritActorContext _ handler: @escaping Handler) -> APICall {
        with {
            $0.handlers.plainSuccess = handler
            $0.handlers.success = nil
        }
    }
}

extension APICall where Value == APIBatch.Outcome {
    /// Returns a copy with a handler that runs when the batch has ended, also with failures that did not end it.
    public func onSuccess(@_inheritActorContext _ handler: @escaping Handler) -> APICall {
        with {
            $0.handlers.plainSuccess = handler
            $0.handlers.success = nil
        }
    }
}

extension APICall {
    /// Begins a call.
    ///
    /// - Returns: the task of the call. Cancelling it cancels the call; its `value` returns when the last handler has run. Dropping the
    ///   task does not cancel the call.
    @discardableResult
    public func execute() -> Task<Void, Never> {
        let perform = prepare()
        return Task { await run(perform) }
    }

    func run(_ perform: Perform) async {
        let cancellation = Cancellation()
        await withTaskCancellationHandler {
            let result = await outcome(of: perform, cancellation)
            if await !end(result, cancellation) { await end(.failure(.cancelledCall), nil) }
        } onCancel: {
            cancellation.request()
        }
    }

    private func outcome(of perform: Perform, _ cancellation: Cancellation) async -> Result<Value, PipelineError> {
        let handlers = handlers
        guard handlers.requestStarted != nil || handlers.progress != nil || handlers.error != nil else {
            return await perform(nil)
        }
        let listener = APIListener(hearsProgress: handlers.progress != nil) { step in
            switch step {
            case .started:
                guard let started = handlers.requestStarted else { return true }
                return await deliver(to: started.isolation, unless: cancellation) { await started() }
            case .failure(let error):
                guard let general = handlers.error else { return true }
                return await deliver(to: general.isolation, unless: cancellation) { await general(error) }
            case .progress(let progress):
                guard let handler = handlers.progress else { return true }
                return await deliver(to: handler.isolation, unless: cancellation) { await handler(progress) }
            }
        }
        return await perform(listener)
    }

    /// Tells of the end, unless the call is cancelled there and then.
    ///
    /// - Returns: whether it was told.
    @discardableResult
    private func end(_ result: Result<Value, PipelineError>, _ cancellation: Cancellation?) async -> Bool {
        switch result {
        case .success(let value):
            if let plain = handlers.plainSuccess {
                return await deliver(to: plain.isolation, unless: cancellation) { await plain() }
            }
            guard let success = handlers.success else { return cancellation?.isRequested != true }
            return await deliver(to: success.isolation, unless: cancellation) { await success(value) }
        case .failure(let error):
            if let special = special(for: error) {
                return await deliver(to: special.isolation, unless: cancellation) { await special() }
            }
            guard let general = handlers.error else { return cancellation?.isRequested != true }
            return await deliver(to: general.isolation, unless: cancellation) { await general(error) }
        }
    }

    private func special(for error: PipelineError) -> Handler? {
        switch error.code {
        case .cancelled: handlers.cancellation
        case .timeout: handlers.timeout
        case .offline: handlers.networkUnavailable
        case .unacceptableStatus where error.response?.statusCode == 401: handlers.notAuthorized
        default: nil
        }
    }

    @discardableResult
    private func deliver(
        to actor: (any Actor)?,
        unless cancellation: Cancellation?,
        _ handler: @Sendable () async -> Void
    ) async -> Bool {
        await place.run(isolatedTo: actor, unless: { cancellation?.isRequested ?? false }, handler)
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
