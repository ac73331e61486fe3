public import PipelineCore

/// An operation that an ``APIClient`` runs as a whole: a request, a chain or a batch.
public protocol APIOperation<Value>: Sendable {
    /// The type of the operation's result.
    associatedtype Value: Sendable
    /// The type of a call of the operation, which is always `APICall<Value>`; conforming types do not declare it.
    ///
    /// ``APIClient/call(_:)`` returns it under this name, so that the type checker finds the type of the operation
    /// before it reads the handlers. With `APICall<Value>`, it takes exponential time for a handler of a chain.
    associatedtype ValueCall = APICall<Value> where ValueCall == APICall<Value>
    /// Runs the operation and returns its result when it has ended.
    ///
    /// - Parameters:
    ///   - client: the client that sends the requests.
    ///   - observer: the receiver of reports; an operation that consists of others passes it on to them.
    /// - Returns: the value or the failure, which has code `cancelled` if the task was cancelled.
    func run(in client: APIClient, observer: APIObserver) async -> Result<Value, PipelineError>
}

/// An operation that is a single call of a provider; a call ends properly even if it is cancelled before it begins.
protocol ProviderCall {}

extension APIRequest: APIOperation {
    /// Sends the request and decodes its response, never on the caller's actor.
    public func run(
        in client: APIClient,
        observer: APIObserver
    ) async -> Result<Output, PipelineError> {
        await ResponseOperation(request: self).run(in: client, observer: observer).map(\.body)
    }

    /// The same request as an operation that returns the value together with its response.
    ///
    /// ```swift
    /// let page = try await api.send(PostController.list().withResponse)
    /// let tag = page.response.headers[.eTag]
    /// ```
    public var withResponse: some APIOperation<APIResponse<Output>> { ResponseOperation(request: self) }

    /// A request that returns its value together with the response.
    private struct ResponseOperation: APIOperation, ProviderCall {
        let request: APIRequest<Output>

        @concurrent
        func run(
            in client: APIClient,
            observer: APIObserver
        ) async -> Result<APIResponse<Output>, PipelineError> {
            let meter = observer.onProgress.map { report in ProgressMeter { report($0.progress) } }
            let (request, call) = await client.answer(to: request, meter: meter, onStart: observer.onStart)
            return call.decoded { response in
                let body = try request.makeResult(from: response, atKeyPath: nil, using: nil, failsOnEmptyData: true)
                return APIResponse(body: body, response: response)
            }
        }
    }
}

extension APIClient {
    /// Runs a request, a chain, a batch or another operation and returns its value, never on the caller's actor.
    ///
    /// ```swift
    /// let outcome = try await api.send(uploads.flatten()) { bar.progress = $0 }
    /// ```
    ///
    /// **Effects**: all requests go to the environment that is current when the operation begins. The handler receives
    /// increasing steps above 0 and up to 1. The step 1 is delivered exactly once, before the value is returned, and
    /// never for a failure. Steps that arrive faster than the handler returns are skipped. No step is delivered after a
    /// cancellation. If the task is cancelled before step 1 was handled, the call throws, even if the value had
    /// arrived. A handler that is isolated to an actor, such as one written in a view, runs on that actor; any other
    /// runs in the background.
    ///
    /// - Parameters:
    ///   - operation: the operation to run.
    ///   - onProgress: a handler of each step; defaults to `nil`.
    /// - Returns: the value; for a chain, the values of its requests.
    /// - Throws: `PipelineError`; `CancellationError` if the task was cancelled.
    @concurrent
    public func send<Operation: APIOperation>(
        _ operation: Operation,
        @_inheritActorContext onProgress: (@isolated(any) @Sendable (Double) -> Void)? = nil
    ) async throws -> Operation.Value {
        guard let onProgress else { return try await operation.run(in: pinned, observer: APIObserver()).awaited }
        let place = CallbackPlace()
        return try await operation.run(
            in: pinned,
            telling: APIListener { step in
                guard case .progress(let progress) = step else { return true }
                return await place.run(isolatedTo: onProgress.isolation, unless: { Task.isCancelled }) {
                    await onProgress(progress)
                }
            }
        )
        .awaited
    }

    /// Returns a call of an operation that reports to callbacks.
    ///
    /// The call starts with ``APICall/execute()``, and all its requests go to the environment that is current at that
    /// time.
    public func call<Operation: APIOperation>(_ operation: Operation) -> Operation.ValueCall {
        APICall(on: provider.callbackExecutor, among: provider.callsInProgress) {
            let client = pinned
            return { listener in
                if Task.isCancelled, !(operation is any ProviderCall) {
                    return .failure(PipelineError(.cancelled, "the call was cancelled"))
                }
                guard let listener else { return await operation.run(in: client, observer: APIObserver()) }
                return await operation.run(in: client, telling: listener)
            }
        }
    }
}

/// A decoded value together with its response.
public struct APIResponse<Output: Sendable>: Sendable {
    /// The value that the body was decoded to.
    public let body: Output
    /// The response that the value was decoded from.
    public let response: PipelineResponse
}

/// The closures to which an ``APIOperation`` reports while it runs.
///
/// A closure runs as part of the operation, so it must return immediately and leave any work to others. A closure that
/// is `nil` costs nothing.
public struct APIObserver: Sendable {
    /// Called each time a request is handed to the transport, including retries and redirects.
    ///
    /// It is not called for a call that shares the exchange of another call, or that a plugin responds to.
    public var onStart: (@Sendable () -> Void)?
    /// Called with the progress, from 0 to 1, which never decreases.
    public var onProgress: (@Sendable (Double) -> Void)?
    /// Called with each failure that does not end the operation, as it happens; see
    /// ``APIBatch/avoidCancelOnError(except:exceptCodes:exceptKinds:)``.
    public var onFailure: (@Sendable (PipelineError) -> Void)?

    /// Creates an observer; without closures it observes nothing.
    public init(
        onStart: (@Sendable () -> Void)? = nil,
        onProgress: (@Sendable (Double) -> Void)? = nil,
        onFailure: (@Sendable (PipelineError) -> Void)? = nil
    ) {
        self.onStart = onStart
        self.onProgress = onProgress
        self.onFailure = onFailure
    }

    /// The same observer for a part of the operation, with another closure for its progress.
    func part(_ onProgress: (@Sendable (Double) -> Void)?) -> APIObserver {
        var copy = self
        copy.onProgress = onProgress
        return copy
    }
}
