public import PipelineCore
import Synchronization

/// A call of an operation that reports its outcome to callbacks.
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
/// An `APICall` is a value: each method returns a copy, and setting a handler starts nothing. Each `execute()` makes a
/// separate call.
///
/// **Effects**: the handlers of one call never run at the same time. First comes `onRequestStarted`, once, when the
/// first request is handed to the transport. Then come the steps of `onProgress`. Last, exactly one of the other
/// handlers runs, once: the one for the outcome if it is set, else `onError` if that is set. A batch with
/// ``APIBatch/avoidCancelOnError(except:exceptCodes:exceptKinds:)`` also calls `onError` for each failure, as it
/// happens.
///
/// If a call is cancelled before its outcome was delivered, it ends with `onCancellation`, even if the response had
/// arrived. It reports no progress from then on. `onRequestStarted` does not run if the call fails or is cancelled
/// before anything is sent, if it shares the exchange of another call, or if a plugin responds to it. The call
/// continues if its handle is dropped.
///
/// | handler | when |
/// |---|---|
/// | `onSuccess` | the call succeeds with a value |
/// | `onNotAuthorized` | the call fails with `unacceptableStatus` and status 401 |
/// | `onTimeout` | the call fails with a code of the kind `timeout` |
/// | `onNetworkUnavailable` | the call fails with `offline` |
/// | `onCancellation` | the call fails with `cancelled` |
/// | `onError` | any other failure, and those above whose handler is not set |
///
/// A handler that is isolated to an actor runs on that actor. A handler written in a view is isolated to the main actor
/// and may use the view. A handler that captures the `self` of another actor is isolated to that actor, unless it
/// captures `[weak self]`; call `Task { await self?.show() }` then. Any other handler runs on the executor of
/// ``deliver(on:)``, else on that of the provider, else on a background executor. On the background executor a handler
/// must not wait for another call; for a handler that blocks its thread, use `deliver(on: .queue(queue))`.
public struct APICall<Value: Sendable>: Sendable {
    /// A handler that takes no arguments.
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

    /// Called at the start of each call.
    let prepare: @Sendable () -> Perform
    /// The calls for which `Provider.drain(within:)` waits.
    private let inProgress: CallsInProgress
    private var handlers = Handlers()
    private var place: CallbackPlace

    init(
        on executor: (any TaskExecutor)?,
        among inProgress: CallsInProgress,
        prepare: @escaping @Sendable () -> Perform
    ) {
        place = CallbackPlace(executor: executor)
        self.inProgress = inProgress
        self.prepare = prepare
    }

    fileprivate func onPlainSuccess(_ handler: @escaping Handler) -> APICall {
        with {
            $0.handlers.plainSuccess = handler
            $0.handlers.success = nil
        }
    }

    private func with(_ change: (inout APICall) -> Void) -> APICall {
        var copy = self
        change(&copy)
        return copy
    }
}

extension APICall {
    /// Returns a copy that runs its handlers on an executor, such as `.queue(.main)`, except those that are isolated to
    /// an actor.
    public func deliver(on executor: any TaskExecutor) -> APICall { with { $0.place.executor = executor } }

    /// Returns a copy with a handler that runs once, when the first request of the call is handed to the transport.
    public func onRequestStarted(@_inheritActorContext _ handler: @escaping Handler) -> APICall {
        with { $0.handlers.requestStarted = handler }
    }

    /// Returns a copy with a handler that receives the progress.
    ///
    /// The steps increase, from above 0 up to 1. The step 1 is delivered exactly once, before `onSuccess`. Steps that
    /// arrive faster than the handler returns are skipped.
    public func onProgress(
        @_inheritActorContext _ handler: @escaping @isolated(any) @Sendable (Double) -> Void
    ) -> APICall {
        with { $0.handlers.progress = handler }
    }

    /// Returns a copy with a handler that receives the value when the call succeeds.
    public func onSuccess(
        @_inheritActorContext _ handler: @escaping @isolated(any) @Sendable (Value) -> Void
    ) -> APICall {
        with {
            $0.handlers.success = handler
            $0.handlers.plainSuccess = nil
        }
    }

    /// Returns a copy with a handler for every failure that has no handler of its own, and for each failure that does
    /// not end a batch.
    public func onError(
        @_inheritActorContext _ handler: @escaping @isolated(any) @Sendable (PipelineError) -> Void
    ) -> APICall {
        with { $0.handlers.error = handler }
    }

    /// Returns a copy with a handler that runs when the response has status 401, unless that status is desired.
    public func onNotAuthorized(@_inheritActorContext _ handler: @escaping Handler) -> APICall {
        with { $0.handlers.notAuthorized = handler }
    }

    /// Returns a copy with a handler that runs when the call fails because the device is offline.
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
        onPlainSuccess(handler)
    }
}

extension APICall where Value == APIBatch.Outcome {
    /// Returns a copy with a handler that runs when the batch ends, even if some operations failed without ending it.
    public func onSuccess(@_inheritActorContext _ handler: @escaping Handler) -> APICall {
        onPlainSuccess(handler)
    }
}

extension APICall {
    /// Starts a call.
    ///
    /// - Returns: the task of the call. Cancelling it cancels the call; its `value` returns when the last handler has
    ///   returned. Dropping the task does not cancel the call.
    @discardableResult
    public func execute() -> Task<Void, Never> {
        let perform = prepare()
        inProgress.begin()
        return Task(executorPreference: SeparateTasks.executor) {
            defer { inProgress.end() }
            await run(perform)
        }
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
            case .started: await deliver(to: handlers.requestStarted, unless: cancellation)
            case .failure(let error): await deliver(error, to: handlers.error, unless: cancellation)
            case .progress(let progress): await deliver(progress, to: handlers.progress, unless: cancellation)
            }
        }
        return await perform(listener)
    }

    /// Delivers the outcome unless the call is cancelled first.
    ///
    /// - Returns: whether the outcome was delivered.
    @discardableResult
    private func end(_ result: Result<Value, PipelineError>, _ cancellation: Cancellation?) async -> Bool {
        switch result {
        case .success(let value):
            if let plain = handlers.plainSuccess { return await deliver(to: plain, unless: cancellation) }
            return await deliver(value, to: handlers.success, unless: cancellation)
        case .failure(let error):
            if let special = special(for: error) { return await deliver(to: special, unless: cancellation) }
            return await deliver(error, to: handlers.error, unless: cancellation)
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

    /// Runs a handler, if there is one, unless the call is cancelled first.
    ///
    /// - Returns: `false` if the call was cancelled first.
    private func deliver(to handler: Handler?, unless cancellation: Cancellation?) async -> Bool {
        let isCancelled = { @Sendable in cancellation?.isRequested ?? false }
        guard let handler else { return !isCancelled() }
        return await place.run(isolatedTo: handler.isolation, unless: isCancelled) { await handler() }
    }

    private func deliver<Input: Sendable>(
        _ input: Input,
        to handler: (@isolated(any) @Sendable (Input) -> Void)?,
        unless cancellation: Cancellation?
    ) async -> Bool {
        let isCancelled = { @Sendable in cancellation?.isRequested ?? false }
        guard let handler else { return !isCancelled() }
        return await place.run(isolatedTo: handler.isolation, unless: isCancelled) { await handler(input) }
    }
}

extension PipelineError {
    fileprivate static var cancelledCall: PipelineError { PipelineError(.cancelled, "the call was cancelled") }
}

/// Whether a call was cancelled, readable outside its task.
private final class Cancellation: Sendable {
    private let flag = Atomic(false)

    var isRequested: Bool { flag.load(ordering: .acquiring) }

    func request() { flag.store(true, ordering: .releasing) }
}
