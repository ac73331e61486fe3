extension MoyaProvider {
    /// Sends a target and returns its response.
    ///
    /// Cancelling the task cancels the request.
    ///
    /// - Throws: ``MoyaError``.
    public func request(_ target: Target) async throws -> Response {
        let handle = RequestCancellable()
        let result: Result<Response, MoyaError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let request = CrossingValue(request(target) { continuation.resume(returning: $0) })
                handle.pass(to: CancellableToken { request.value.cancel() })
            }
        } onCancel: {
            handle.cancel()
        }
        return try result.get()
    }
}
