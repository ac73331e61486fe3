public import HTTPTypes
public import Pipeline

extension OptionsModifying {
    /// A copy whose call succeeds no sooner than this after it began, zero and up, by ``MinimumDurationPlugin``.
    ///
    /// A failure is told at once, unless the plugin is for results of all kinds, `appliesTo: .always`.
    public func additionalTimeout(_ duration: Duration) -> Self { options { $0.additionalTimeout = duration } }

    /// A copy whose failure ``LoggingPlugin`` keeps quiet about.
    public func avoidLogError() -> Self { options { $0.avoidLogError = true } }

    /// A copy for which this holds instead of the settings of ``RetryPlugin``.
    public func retry(_ settings: RetryPlugin.Override) -> Self { options { $0.retry = settings } }

    /// A copy that ``RetryPlugin`` sends again after these statuses and nothing else, at most so many times.
    ///
    /// Its method must be one that may be sent again: idempotent, or with an idempotency key.
    ///
    /// - Parameters:
    ///   - statuses: the statuses that are worth another attempt.
    ///   - attempts: how many attempts may follow the first, 0 and up.
    /// - Returns: the copy.
    public func retry(on statuses: [HTTPResponse.Status], attempts: Int = 3) -> Self {
        precondition(attempts >= 0, "attempts is \(attempts), less than 0")
        let policy = RetryPolicy(statusCodes: Set(statuses.map(\.code))) { $0.error == nil ? nil : .giveBack }
        return retry(RetryPlugin.Override(maximumAttempts: min(attempts, .max - 1) + 1, policy: policy))
    }
}
