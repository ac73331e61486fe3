#if Metrics
public import Metrics
import HTTPTypes
public import Pipeline

/// Counts and times calls and exchanges with swift-metrics, under labels with few different values.
///
/// It is there with the package trait `Metrics`.
///
/// ```swift
/// MetricsPlugin()
/// MetricsPlugin(prefix: "shop.http.", showsStatusCode: true, factory: registry)
/// ```
///
/// | metric | kind | what | labels |
/// |---|---|---|---|
/// | `pipeline.calls` | counter | calls that have ended | `method`, `host`, `status`, `outcome` |
/// | `pipeline.call.duration` | timer | from the beginning of the call to its end | the same |
/// | `pipeline.calls.active` | meter | calls that go on and have come to the plugin's place | none |
/// | `pipeline.calls.joined` | counter | calls that shared the exchange of another, see ``DeduplicationPlugin`` | `method`, `host` |
/// | `pipeline.calls.unsent` | counter | other calls that were answered without an exchange: a plugin answered | `method`, `host` |
/// | `pipeline.exchanges` | counter | exchanges that have ended | `method`, `host`, `status`, `outcome` |
/// | `pipeline.exchange.duration` | timer | of the exchange | the same |
/// | `pipeline.exchanges.active` | meter | exchanges that go on | none |
/// | `pipeline.connection.wait` | timer | time until an exchange had a connection, where the transport reports it | `method`, `host` |
/// | `pipeline.retries` | counter | attempts after the first that came to an exchange | `method`, `host` |
/// | `pipeline.redirects` | counter | exchanges that follow a redirect | `method`, `host` |
/// | `pipeline.sent.bytes` | counter | bytes of request bodies | `method`, `host` |
/// | `pipeline.received.bytes` | counter | bytes of response bodies, as they are on the wire | `method`, `host` |
///
/// | label | values |
/// |---|---|
/// | `method` | a method of an RFC, `_OTHER` for any other |
/// | `host` | the first `maximumHostCount` hosts, without port; `other` for the rest |
/// | `status` | `2xx` or, with `showsStatusCode`, `200`; `none` without an answer, `other` for what is no status |
/// | `outcome` | `success`, or the kind of the failure: `timeout`, `connect`, `unacceptableStatus` and so on; `other` for a kind that a plugin made |
/// | `target` | with `showsTarget`, of calls and exchanges, the type of the target |
///
/// **Position**: anywhere: a call counts once, and every exchange. Inside a plugin that shares responses, `pipeline.calls.active` leaves out the
/// calls that wait for the exchange of another.
///
/// **Effects**: changes nothing; no body is read. The outcome is that of the caller, decoding included; a call of any status that its
/// target accepts is a success. The host of a
/// call is that of its first exchange. A streamed call ends with its stream. Bytes are counted of bodies in memory,
/// of files that are sent and, by their Content-Length, of downloads; not of streams. Each series keeps one metric object, at
/// most `maximumSeriesCount` of them; every other value is counted with `other` in all its labels. Metrics are made by the factory
/// when they are first needed, never under a lock. Durations are those of the provider's clock, in nanoseconds.
///
/// **Defaults**
///
/// | setting | default | unit | range |
/// |---|---|---|---|
/// | `prefix` | `pipeline.` | | what all names begin with |
/// | `maximumHostCount` | 20 | hosts | 0 and up; with 0 there is no label `host` |
/// | `showsStatusCode` | `false` | | |
/// | `showsTarget` | `false` | | |
/// | `maximumSeriesCount` | 1,000 | metric objects | 1 and up; up to 13 more that hold the rest |
/// | `factory` | `MetricsSystem.factory` | | |
///
/// **Errors**: throws none, and passes every failure on.
///
/// **Secrets**: no label holds a path, a query, a header field, a body, a user name or the text of an error.
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
    ///   - prefix: what all names begin with.
    ///   - maximumHostCount: how many hosts have a label of their own, 0 and up; with 0 there is no label `host`.
    ///   - showsStatusCode: whether the label `status` is the status itself and not its class.
    ///   - showsTarget: whether there is a label `target` with the type of the target.
    ///   - maximumSeriesCount: how many metric objects are kept, 1 and up.
    ///   - factory: makes the metrics; `nil` for the factory of `MetricsSystem` at the time.
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

    /// Counts the call among those that go on.
    public func prepare(_ request: inout PipelineRequest, context: PipelineContext) {
        // What calls share may go on when the first of them has ended.
        let isFirst = note(context) { $0.begin() }
        if isFirst { store.begin(.activeCalls) }
    }

    /// Counts the call, also one that never became a request.
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
        let name = outcome.error.map { MetricLabels.outcome($0.code) } ?? MetricLabels.success
        let labels = ended(place, outcome.statusCode, name, context)
        store.add(to: .calls, labels)
        store.record(outcome.duration, in: .callDuration, labels)
    }

    // MARK: Exchanges

    /// Counts the exchange among those that go on, and the body that it sends.
    public func willSend(_ request: PipelineRequest, context: PipelineContext) {
        store.begin(.activeExchanges)
        let place = place(request, context)
        if context.hop > 0 || context.attempt > 1 {
            let isFirst = note(context) { $0.steps.insert(.init(attempt: context.attempt, hop: context.hop)).inserted }
            if isFirst { store.add(to: context.hop > 0 ? .redirects : .retries, place) }
        }
        if let byteCount = request.body.byteCount, byteCount > 0 { store.add(byteCount, to: .sentBytes, place) }
    }

    /// Counts the exchange and the body that it received.
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

    /// The file of a download may hold what an earlier one has left.
    private static func receivedByteCount(of response: PipelineResponse, _ context: PipelineContext) -> Int? {
        if let bytes = response.body.bytes, !bytes.isEmpty { return bytes.count }
        guard context.isDownload else { return nil }
        return response.headers[.contentLength].flatMap { Int($0) }
    }

    /// Changes what is noted of the call.
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

/// What a store has counted of a call.
private struct CountedCall: Sendable {
    struct Step: Hashable {
        let attempt: Int
        let hop: Int
    }

    private var isActive = false
    private var hasEnded = false
    /// The retries and redirects, each of which may have several exchanges.
    var steps: Set<Step> = []

    /// Whether the call is to be counted among those that go on.
    mutating func begin() -> Bool {
        guard !isActive, !hasEnded else { return false }
        isActive = true
        return true
    }

    /// Whether the call was counted among them.
    mutating func end() -> Bool {
        hasEnded = true
        return isActive
    }
}

/// By the store.
private enum CountedCalls: PipelineContextKey {
    static let defaultValue: [ObjectIdentifier: CountedCall] = [:]
}

extension MetricsPlugin: CapabilityDeclaring {
    private var counts: PluginCapability { .init("counts calls under \(prefix)") }

    /// A capability of its own, which holds the prefix.
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
