public import PipelineCore

extension StandardPart {
    /// Limits of attempts and calls in place of those of the stack.
    public static func timeouts(_ plugin: TimeoutPlugin) -> StandardPart { StandardPart([.timeouts: [plugin]]) }

    /// Retries by other rules than those of the stack.
    public static func retries(_ plugin: RetryPlugin) -> StandardPart { StandardPart([.retries: [plugin]]) }

    /// Ids of calls other than random ones.
    public static func requestID(_ plugin: RequestIDPlugin) -> StandardPart { StandardPart([.requestID: [plugin]]) }

    /// A time that each successful call takes at least, zero and up; `RequestOptions.minimumDuration` overrides it.
    public static func minimumDuration(_ duration: Duration) -> StandardPart {
        StandardPart([.minimumDuration: [MinimumDurationPlugin(duration)]])
    }
}
