/// What an ``APIClient`` can run as one: a request, a chain, a batch.
public protocol APIOperation: Sendable {
    /// What it gives.
    associatedtype Value: Sendable

    /// Runs it to its end.
    ///
    /// - Parameters:
    ///   - client: what sends its requests.
    ///   - report: is told how far it has come, from 0 to 1, never less than before; `nil` when nobody wants to know. It only hands on.
    /// - Returns: the value, or why there is none; code `cancelled` for a task that was cancelled.
    func run(
        in client: APIClient,
        report: (@Sendable (Double) -> Void)?
    ) async -> Result<Value, PipelineError>
}

extension APIRequest: APIOperation {
    /// Sends it and decodes its answer, never on the caller's actor.
    public func run(
        in client: APIClient,
        report: (@Sendable (Double) -> Void)?
    ) async -> Result<Output, PipelineError> {
        await withResponse.run(in: client, report: report).map(\.body)
    }

    /// The same, giving the value together with the response.
    ///
    /// ```swift
    /// let page = try await api.send(PostController.list().withResponse)
    /// let tag = page.headers[.eTag]
    /// ```
    public var withResponse: ResponseOperation { ResponseOperation(request: self) }

    /// A request that gives its value together with the response.
    public struct ResponseOperation: APIOperation {
        let request: APIRequest<Output>

        /// Sends it and decodes its answer, never on the caller's actor.
        @concurrent
        public func run(
            in client: APIClient,
            report: (@Sendable (Double) -> Void)?
        ) async -> Result<APIResponse<Output>, PipelineError> {
            let meter = report.map { report in ProgressMeter { report($0.progress) } }
            let (request, result) = await client.answer(to: request, meter: meter)
            return result.decoded(request.options) { response in
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
    /// - Throws: ``PipelineError``; `CancellationError` when the task was cancelled.
    @concurrent
    public func send<Operation: APIOperation>(_ operation: Operation) async throws -> Operation.Value {
        switch await operation.run(in: pinned, report: nil) {
        case .success(let value): return value
        case .failure(let error): throw error.asThrown
        }
    }

    /// An operation that is answered by callbacks, all of it in the environment that is current as it begins.
    ///
    /// It begins with ``APICall/execute()``.
    public func call<Operation: APIOperation>(_ operation: Operation) -> APICall<Operation.Value> {
        APICall(on: provider.callbackQueue) {
            let client = pinned
            return { report in await operation.run(in: client, report: report) }
        }
    }
}
