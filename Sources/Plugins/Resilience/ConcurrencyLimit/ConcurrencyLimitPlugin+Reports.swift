public import PipelineCore

extension ConcurrencyLimitPlugin {
    /// The only option that the plugin handles is `priority`.
    public var handledOptions: [RequestOptions.PluginOption] { [.priority] }

    /// Degraded while requests wait; the details give the permits of each partition, unless its key may be a secret.
    public func health(on clock: PipelineClock) -> PluginHealth {
        var details: [String: String] = [:]
        var gauges: [String: [PluginHealth.Gauge: Double]] = [:]
        var waitingCount = 0
        for (key, permits) in partitions.all {
            let (inUse, limit, waiting) = permits.read { ($0.inUse, $0.limit, $1) }
            waitingCount += waiting
            guard let name = key.shownName else { continue }
            details[name] = "\(inUse) of \(limit) in use, \(waiting) waiting"
            gauges[name] = [.limit: Double(limit), .inUse: Double(inUse), .waiting: Double(waiting)]
        }
        return PluginHealth(waitingCount > 0 ? .degraded : .healthy, details: details, gauges: gauges)
    }

    private static let limitsConcurrency = PluginCapability("limits concurrency")

    /// A capability of its own, for the rules about its position.
    public var capabilities: Set<PluginCapability> { [Self.limitsConcurrency] }

    /// Finds a limit outside a cache, and notes a second limit.
    public var orderRules: [OrderRule] {
        [
            OrderRule(
                "concurrency-limit-outside-cache",
                [Self.limitsConcurrency],
                .outside,
                [.caches],
                consequence: "a response from the cache waits for a permit that it does not need"
            ),
            OrderRule(
                "concurrency-limit-twice",
                [Self.limitsConcurrency],
                .inside,
                [Self.limitsConcurrency],
                consequence:
                    "each request needs a permit of both, and keeps the outer one while it waits for the inner",
                remedy: "keep one of them, unless they have different partitions",
                severity: .hint
            ),
        ]
    }
}

extension PipelineError.Code.Limit {
    /// The number of calls that wait for a permit of ``ConcurrencyLimitPlugin``.
    public static let concurrency = Self(rawValue: "concurrency")
}

extension PipelineError.Code.TimeoutPhase {
    /// The wait for a permit of a plugin that limits calls; nothing was sent.
    public static let queue = Self(rawValue: "queue")
}
