public import Pipeline

/// What an ``APIClient`` can run as one: a request, a chain, a batch.
public protocol APIOperation: Sendable {
    /// What it gives.
    associatedtype Value: Sendable

    /// Runs the operation to its end.
    ///
    /// - Parameters:
    ///   - client: what sends its requests.
    ///   - observer: what it reports to; an operation made of others passes it on to them.
    /// - Returns: the value, or the failure; code `cancelled` for a task that was cancelled.
    func run(in client: APIClient, observer: APIObserver) async -> Result<Value, PipelineError>
}

/// An operation that is one call of a provider, which ends even a call that is cancelled before it begins.
protocol ProviderCall {}

extension APIRequest: APIOperation, ProviderCall {
    /// Sends it and decodes its answer, never on the caller's actor.
    public func run(
        in client: APIClient,
        observer: APIObserver
    ) async -> Result<Output, PipelineError> {
        await withResponse.run(in: client, observer: observer).map(\.body)
    }

    /// The same, giving the value together with the response.
    ///
    /// ```swift
    /// let page = try await api.send(PostController.list().withResponse)
    /// let tag = page.headers[.eTag]
    /// ```
    public var withResponse: ResponseOperation { ResponseOperation(request: self) }

    /// A request that gives its value together with the response.
    public struct ResponseOperation: APIOperation, ProviderCall {
        let request: APIRequest<Output>

        /// Sends it and decodes its answer, never on the caller's actor.
        @concurrent
        public func run(
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
    /// Sends a request and decodes its answer, or runs a chain, a batch, or any other operation, never on the caller's actor.
    ///
    /// All of it goes to the environment that is current as it begins.
    ///
    /// - Returns: the value; of a chain the values of its requests.
    /// - Throws: `PipelineError`; `CancellationError` when the task was cancelled.
    @concurrent
    public func send<Operation: APIOperation>(_ operation: Operation) async throws -> Operation.Value {
        try await operation.run(in: pinned, observer: APIObserver()).awaited
    }

    /// The same, telling how far it has come.
    ///
    /// ```swift
    /// let outcome = try await api.send(uploads.flatten()) { bar.progress = $0 }
    /// ```
    ///
    /// **Effects**: it tells of steps above 0 and up to 1, each more than the one before, 1 exactly once, before the value is returned, and
    /// never 1 of a failure. Steps that come faster than the handler takes them are left out. After a cancellation there are none; a
    /// task that is cancelled before the 1 was told throws, also when the value was there already. A handler that belongs to an
    /// actor runs there, as one that is written in a view belongs to the main actor; any other in the background.
    ///
    /// - Parameters:
    ///   - operation: a request, a chain, a batch, or any other.
    ///   - onProgress: is told of each step.
    /// - Returns: the value; of a chain the values of its requests.
    /// - Throws: `PipelineError`; `CancellationError` when the task was cancelled.
    @concurrent
    public func send<Operation: APIOperation>(
        _ operation: Operation,
        @_inheritActorContext onProgress: @escaping @isolated(any) @Sendable (Double) -> Void
    ) async throws -> Operation.Value {
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

    /// An operation that is answered by callbacks, all of it in the environment that is current as it begins.
    ///
    /// It begins with ``APICall/execute()``.
    public func call<Operation: APIOperation>(_ operation: Operation) -> APICall<Operation.Value> {
        APICall(on: provider.callbackQueue) {
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
