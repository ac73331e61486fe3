public import PipelineCore

extension RateLimitPlugin: HealthReporting {
    /// The plugin is degraded while calls wait, the gate of a partition is closed, or requests are throttled.
    ///
    /// It is also degraded while the store of a shared limit is unavailable. The details name the partitions, how many
    /// calls wait, for how long the gate stays closed, and which share is refused. Partitions whose keys may be secrets
    /// are only counted.
    public func health(on clock: PipelineClock) -> PluginHealth {
        let now = clock.now
        var details: [String: String] = [:]
        var gauges: [String: [PluginHealth.Gauge: Double]] = [:]
        var unnamedCount = 0
        for (key, permits) in partitions.all {
            let (rest, share, waitingCount) = permits.read { meter, count in
                (meter.closure(at: now), meter.throttledShare(at: now), count)
            }
            if let name = key.shownName {
                gauges[name] = [
                    .waiting: Double(waitingCount), .closedSeconds: (rest ?? .zero) / .seconds(1),
                    .throttledShare: share,
                ]
            }
            let closure = rest.map { "closed for \(PipelineError.text(of: $0))" }
            let throttling = share > 0 ? "refuses \(min(99, Int((100 * share).rounded(.up)))) %" : nil
            let waiting = waitingCount > 0 ? "\(waitingCount) waiting" : nil
            let texts = [closure, throttling, waiting].compactMap(\.self)
            guard !texts.isEmpty else { continue }
            if let name = key.shownName { details[name] = texts.joined(separator: ", ") } else { unnamedCount += 1 }
        }
        if let failure = quota?.failure { details["store"] = "unavailable: \(failure)" }
        if unnamedCount > 0 { details["custom partitions"] = "\(unnamedCount) closed, throttled or with waiting calls" }
        return PluginHealth(details.isEmpty ? .healthy : .degraded, details: details, gauges: gauges)
    }
}

extension RateLimitPlugin: CapabilityDeclaring {
    private static let limitsRates = PluginCapability("limits rates")

    /// The plugin has a capability of its own, `limits rates`.
    public var capabilities: Set<PluginCapability> { [Self.limitsRates] }

    /// Finds a position outside a cache or inside a concurrency limit, and notes two plugins that limit rates.
    public var orderRules: [OrderRule] {
        [
            OrderRule(
                "rate-limit-outside-cache",
                [Self.limitsRates],
                .outside,
                [.caches],
                consequence: "responses from the cache take permits and wait for the gate, although nothing is sent"
            ),
            OrderRule(
                "rate-limit-inside-concurrency-limit",
                [Self.limitsRates],
                .inside,
                [PluginCapability("limits concurrency")],
                consequence: "a request keeps its permit of the concurrency limit while it waits for the rate limit"
            ),
            OrderRule(
                "rate-limit-twice",
                [Self.limitsRates],
                .inside,
                [Self.limitsRates],
                consequence: "a request waits for the permits of both, and counts for the outer one while it waits",
                remedy: "keep one, unless the server has two limits",
                severity: .hint
            ),
        ]
    }
}

extension RateLimitPlugin: OptionHandling {
    /// The options that the plugin handles are `priority` and `cost`.
    public var handledOptions: [RequestOptions.PluginOption] { [.priority, .cost] }
}

extension PipelineError.Code.Limit {
    /// The number of requests per period, see ``RateLimitPlugin``.
    public static let rate = Self(rawValue: "rate")
}
