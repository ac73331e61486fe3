public import HTTPTypes
public import PipelineCore

extension OptionsModifying {
    /// Returns a copy that ``RetryPlugin`` retries after these statuses and in no other case.
    ///
    /// The method must be idempotent, or the request must have an idempotency key. This replaces
    /// `RequestOptions.retry`.
    ///
    /// - Parameters:
    ///   - statuses: the statuses after which the request is retried.
    ///   - attempts: the maximum number of retries, 0 and up.
    /// - Returns: the copy.
    public func retry(on statuses: [HTTPResponse.Status], attempts: Int = 3) -> Self {
        precondition(attempts >= 0, "attempts is \(attempts), less than 0")
        let policy = RetryPolicy(statusCodes: Set(statuses.map(\.code))) { $0.error == nil ? nil : .giveBack }
        return options { $0.retry = .init(maximumAttempts: min(attempts, .max - 1) + 1, policy: policy) }
    }
}
