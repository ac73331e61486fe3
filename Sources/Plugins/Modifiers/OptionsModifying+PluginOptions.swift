public import HTTPTypes
public import Pipeline

extension OptionsModifying {
    /// Returns a copy whose call takes at least this long to succeed, zero and up, by ``MinimumDurationPlugin``.
    ///
    /// A failure is not delayed unless the plugin applies to all results, `appliesTo: .always`.
    public func additionalTimeout(_ duration: Duration) -> Self { options { $0.additionalTimeout = duration } }

    /// Returns a copy whose failure ``LoggingPlugin`` does not write.
    public func avoidLogError() -> Self { options { $0.avoidLogError = true } }

    /// Returns a copy with settings that replace those of ``RetryPlugin``.
    public func retry(_ settings: RetryPlugin.Override) -> Self { options { $0.retry = settings } }

    /// Returns a copy that ``RetryPlugin`` retries after these statuses and nothing else.
    ///
    /// The method must be idempotent, or the request must have an idempotency key.
    ///
    /// - Parameters:
    ///   - statuses: the statuses that are retried.
    ///   - attempts: the maximum number of retries, 0 and up.
    /// - Returns: the copy.
    public func retry(on statuses: [HTTPResponse.Status], attempts: Int = 3) -> Self {
        precondition(attempts >= 0, "attempts is \(attempts), less than 0")
        let policy = RetryPolicy(statusCodes: Set(statuses.map(\.code))) { $0.error == nil ? nil : .giveBack }
        return retry(RetryPlugin.Override(maximumAttempts: min(attempts, .max - 1) + 1, policy: policy))
    }
}
