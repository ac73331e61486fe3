#if Metrics
public import Metrics
import HTTPTypes
public import Pipeline

/// A plugin that counts and times calls and exchanges with swift-metrics, under labels of low cardinality.
///
/// ```swift
/// MetricsPlugin()
/// MetricsPlugin(prefix: "shop.http.", showsStatusCode: true, factory: registry)
/// ```
///
/// It requires the package trait `Metrics`.
///
/// **Effects**
///
/// | metric | kind | measures | labels |
/// |---|---|---|---|
/// | `pipeline.calls` | counter | calls that have ended | `method`, `host`, `status`, `outcome` |
/// | `pipeline.call.duration` | timer | time from the start of the call to its end | the same |
/// | `pipeline.calls.active` | meter | calls in progress that have reached the plugin | none |
/// | `pipeline.calls.joined` | counter | calls that shared the exchange of another call, see ``DeduplicationPlugin`` | `method`, `host` |
/// | `pipeline.calls.unsent` | counter | other calls that got a response without an exchange, because a plugin responded | `method`, `host` |
/// | `pipeline.calls.cached` | counter | calls that ``CachePlugin`` handled | `method`, `host`, `cache` |
/// | `pipeline.exchanges` | counter | exchanges that have ended | `method`, `host`, `status`, `outcome` |
/// | `pipeline.exchange.duration` | timer | duration of the exchange | the same |
/// | `pipeline.exchanges.active` | meter | exchanges in progress | none |
/// | `pipeline.connection.wait` | timer | time until an exchange had a connection, if the transport reports it | `method`, `host` |
/// | `pipeline.retries` | counter | attempts after the first that made an exchange | `method`, `host` |
/// | `pipeline.redirects` | counter | exchanges that follow a redirect | `method`, `host` |
/// | `pipeline.sent.bytes` | counter | bytes of request bodies | `method`, `host` |
/// | `pipeline.received.bytes` | counter | bytes of response bodies on the wire | `method`, `host` |
///
/// | label | values |
/// |---|---|
/// | `method` | a method defined by an RFC, `_OTHER` for any other |
/// | `host` | the first `maximumHostCount` hosts, without port; `other` for the rest |
/// | `status` | `2xx` or, with `showsStatusCode`, `200`; `none` without a response, `other` for a number outside 100...599 |
/// | `outcome` | `success`, or the kind of failure: `timeout`, `connect`, `unacceptableStatus` and so on; `other` for a kind defined by a plugin |
/// | `cache` | ``CacheStatus/kind``: `hit`, `stale`, `revalidated`, `miss` or `bypass` |
/// | `target` | the type of the target; only with `showsTarget`, for calls and exchanges |
///
/// - Changes nothing and reads no body.
/// - The outcome is the one that the caller gets, including decoding. A call with any status that its target accepts is
///   a success.
/// - The host of a call is the host of its first exchange.
/// - A streamed call ends with its stream.
/// - Counts the bytes of bodies in memory, of files that are sent and, by their Content-Length, of downloads, but not
///   of streams.
/// - Keeps one metric object for each series, at most `maximumSeriesCount`. Any further series is counted with `other`
///   in all its labels.
/// - The factory makes each metric when it is first needed, never under a lock.
/// - Measures durations with the provider's clock, in nanoseconds.
///
/// **Defaults**
///
/// | setting | default | unit | range |
/// |---|---|---|---|
/// | `prefix` | `pipeline.` | | the beginning of all names |
/// | `maximumHostCount` | 20 | hosts | 0 and up; 0 removes the label `host` |
/// | `showsStatusCode` | `false` | | |
/// | `showsTarget` | `false` | | |
/// | `maximumSeriesCount` | 1,000 | metric objects | 1 and up; up to 13 more that hold the rest |
/// | `factory` | `MetricsSystem.factory` | | |
///
/// **Position**: anywhere. Each call counts once, and each exchange counts once. Inside a plugin that shares responses,
/// `pipeline.calls.active` does not include calls that wait for the exchange of another call.
///
/// **Errors**: throws none. Failures pass through unchanged.
///
/// **Secrets**: no label contains a path, a query, a header field, a body, a user name or the text of an error.
///
/// Source: https://swiftpackageindex.com/apple/swift-metrics/documentation/coremetrics
public struct MetricsPlugin: Stage.Prepare, Stage.WillSend, Stage.DidReceive, Stage.DidFinish {
    private let prefix: String
    private let labels: MetricLabels
    private let showsHost: Bool
    private let showsTarget: Bool
    private let store: MetricStore

    /// Makes a plugin.
    ///
    /// - Parameters:
    ///   - prefix: the beginning of all metric names.
    ///   - maximumHostCount: how many hosts have a label of their own, 0 and up; 0 removes the label `host`.
    ///   - showsStatusCode: whether the label `status` is the status itself instead of its class.
    ///   - showsTarget: whether there is a label `target` with the type of the target.
    ///   - maximumSeriesCount: how many metric objects are kept, 1 and up.
    ///   - factory: makes the metrics; `nil` uses the factory that `MetricsSystem` has when a metric is made.
    public init(
        prefix: String = "pipeline.",
        maximumHostCount: Int = 20,
        showsStatusCode: Bool = false,
        showsTarget: Bool = false,
        maximumSeriesCount: Int = 1_000,
        factory: (any MetricsFactory)? = nil
    ) {
        precondition(maximumHostCount >= 0, "maximumHostCount is \(maximumHostCount), not 0 or more")
        precondition(maximumSeriesCount >= 1, "maximumSeriesCount is \(maximumSeriesCount), not 1 or more")
        self.prefix = prefix
        self.labels = MetricLabels(showsStatusCode: showsStatusCode)
        self.showsHost = maximumHostCount > 0
        self.showsTarget = showsTarget
        self.store = MetricStore(
            prefix: prefix,
            factory: factory,
            maximumCount: maximumSeriesCount,
            maximumHostCount: maximumHostCount
        )
    }

    // MARK: Calls

    /// Adds the call to those in progress.
    public func prepare(_ request: inout PipelineRequest, context: PipelineContext) {
        // Calls share this state, and some may continue after the first has ended.
        let isFirst = note(context) { $0.begin() }
        if isFirst { store.begin(.activeCalls) }
    }

    /// Counts the call when it ends, even if it never became a request.
    public func didFinish(_ outcome: Stage.Outcome, context: PipelineContext) {
        let wasActive = note(context) { $0.end() }
        if wasActive { store.end(.activeCalls) }
        let place = place(
            outcome.exchanges.first?.request
                ?? (try? PipelineRequest(context.endpoint.method, url: context.endpoint.url)),
            context
        )
        if context.isJoined {
            store.add(to: .joinedCalls, place)
        } else if outcome.exchanges.isEmpty, outcome.statusCode != nil {
            store.add(to: .unsentCalls, place)
        }
        if let kind = context[CallCacheKind.self] {
            store.add(to: .cachedCalls, place + [MetricSeries.Label(name: "cache", value: kind.rawValue)])
        }
        let name = outcome.error.map { MetricLabels.outcome($0.code) } ?? MetricLabels.success
        let labels = ended(place, outcome.statusCode, name, context)
        store.add(to: .calls, labels)
        store.record(outcome.duration, in: .callDuration, labels)
    }

    // MARK: Exchanges

    /// Adds the exchange to those in progress and counts the bytes of the body that it sends.
    public func willSend(_ request: PipelineRequest, context: PipelineContext) {
        store.begin(.activeExchanges)
        let place = place(request, context)
        if context.hop > 0 || context.attempt > 1 {
            let isFirst = note(context) { $0.steps.insert(.init(attempt: context.attempt, hop: context.hop)).inserted }
            if isFirst { store.add(to: context.hop > 0 ? .redirects : .retries, place) }
        }
        if let byteCount = request.body.byteCount, byteCount > 0 { store.add(byteCount, to: .sentBytes, place) }
    }

    /// Counts the exchange and the bytes of the body that it received.
    public func didReceive(_ result: Result<PipelineResponse, PipelineError>, context: PipelineContext) {
        store.end(.activeExchanges)
        var outcome = MetricLabels.success
        if case .failure(let error) = result { outcome = MetricLabels.outcome(error.code) }
        guard let exchange = context.exchange else { return }
        let place = place(exchange.request, context)
        let labels = ended(place, exchange.statusCode, outcome, context)
        store.add(to: .exchanges, labels)
        store.record(exchange.duration, in: .exchangeDuration, labels)
        if let wait = exchange.connectionWait { store.record(wait, in: .connectionWait, place) }
        if case .success(let response) = result, let byteCount = Self.receivedByteCount(of: response, context),
            byteCount > 0
        {
            store.add(byteCount, to: .receivedBytes, place)
        }
    }

    /// Counts a download by its Content-Length: its file may contain bytes of an earlier download.
    private static func receivedByteCount(of response: PipelineResponse, _ context: PipelineContext) -> Int? {
        if let bytes = response.body.bytes, !bytes.isEmpty { return bytes.count }
        guard context.isDownload else { return nil }
        return response.headers[.contentLength].flatMap { Int($0) }
    }

    /// Updates the state that this store keeps for the call.
    private func note(_ context: PipelineContext, _ change: (inout CountedCall) -> Bool) -> Bool {
        let key = ObjectIdentifier(store)
        return context.update(CountedCalls.self) { change(&$0[key, default: CountedCall()]) }
    }

    // MARK: Labels

    private func place(_ request: PipelineRequest?, _ context: PipelineContext) -> [MetricSeries.Label] {
        let method = request?.observedMethod ?? PipelineRequest.observedMethod(context.endpoint.method)
        var result = [MetricSeries.Label(name: "method", value: method)]
        if showsHost {
            let host = request?.serverAddress.map { store.host($0) } ?? MetricLabels.none
            result.append(MetricSeries.Label(name: "host", value: host))
        }
        return result
    }

    private func ended(
        _ place: [MetricSeries.Label],
        _ statusCode: Int?,
        _ outcome: String,
        _ context: PipelineContext
    ) -> [MetricSeries.Label] {
        var result = place
        result.append(MetricSeries.Label(name: "status", value: labels.status(statusCode)))
        result.append(MetricSeries.Label(name: "outcome", value: outcome))
        if showsTarget {
            result.append(MetricSeries.Label(name: "target", value: "\(type(of: context.target))"))
        }
        return result
    }
}

/// What one store has counted for a call.
private struct CountedCall: Sendable {
    struct Step: Hashable {
        let attempt: Int
        let hop: Int
    }

    private var isActive = false
    private var hasEnded = false
    /// The retries and redirects counted so far; each of them may have several exchanges.
    var steps: Set<Step> = []

    /// Returns whether to count the call as in progress.
    mutating func begin() -> Bool {
        guard !isActive, !hasEnded else { return false }
        isActive = true
        return true
    }

    /// Returns whether the call was counted as in progress.
    mutating func end() -> Bool {
        hasEnded = true
        return isActive
    }
}

/// The counted state of the call, by store.
private enum CountedCalls: PipelineContextKey {
    static let defaultValue: [ObjectIdentifier: CountedCall] = [:]
}

extension MetricsPlugin: CapabilityDeclaring {
    private var counts: PluginCapability { .init("counts calls under \(prefix)") }

    /// A capability of its own, which contains the prefix.
    public var capabilities: Set<PluginCapability> { [counts] }

    /// Finds another plugin with the same prefix.
    public var orderRules: [OrderRule] {
        [
            OrderRule(
                "metrics-twice",
                [counts],
                .inside,
                [counts],
                consequence: "each call and exchange is counted twice as \(prefix)…",
                remedy: "remove the inner one or change the prefix of one of them"
            )
        ]
    }
}
#endif
