#if Telemetry
public import HTTPTypes
public import Metrics
public import PipelineCore

/// A plugin that measures exchanges as OpenTelemetry's HTTP conventions 1.44 define, and calls, with swift-metrics.
///
/// ```swift
/// MetricsPlugin()
/// MetricsPlugin(prefix: "shop.", showsTarget: true, factory: registry)
/// ```
///
/// It requires the package trait `Telemetry`. The guide <doc:/Pipeline/Telemetry> leads to Prometheus and Grafana.
///
/// **Effects**
///
/// | metric | kind | measures |
/// |---|---|---|
/// | `http.client.request.duration` | histogram, s | duration of each exchange; see ``durationBuckets`` |
/// | `http.client.active_requests` | meter | exchanges in progress |
/// | `http.client.request.body.size` | histogram, bytes | request body of each exchange that has one |
/// | `http.client.response.body.size` | histogram, bytes | response body of each exchange that has one, on the wire |
/// | `pipeline.calls` | counter | calls that have ended |
/// | `pipeline.call.duration` | timer | time from the start of the call to its end |
/// | `pipeline.calls.active` | meter | calls in progress that have reached the plugin |
/// | `pipeline.calls.joined` | counter | calls that shared the exchange of another call, see `DeduplicationPlugin` |
/// | `pipeline.calls.unsent` | counter | other calls that got a response without an exchange, because a plugin responded |
/// | `pipeline.calls.cached` | counter | calls that `CachePlugin` handled |
/// | `pipeline.connection.wait` | timer | time until an exchange had a connection, if the transport reports it |
/// | `pipeline.retries` | counter | attempts after the first that made an exchange |
/// | `pipeline.redirects` | counter | exchanges that follow a redirect |
/// | `pipeline.plugin.events` | counter | what plugins did, see `Stage.Outcome.annotations` |
/// | `pipeline.plugin.wait` | timer | how long plugins made calls wait, for events with a duration |
///
/// | attribute | values | metrics |
/// |---|---|---|
/// | `http.request.method` | a known method, `_OTHER` for any other | all |
/// | `server.address`, `server.port` | the first `maximumHostCount` hosts with their ports; `_OTHER` and 0 for the rest | all, except for a call without a valid URL |
/// | `url.scheme` | `http` or `https` | all, likewise |
/// | `url.template` | the target's `pathTemplate`, if it has one; none after a redirect | all |
/// | `http.response.status_code` | the status, if there was a response | `request.duration`, the sizes, `calls`, `call.duration` |
/// | `error.type` | only for failures: the status, or the code of the error, such as `timeout.connect`; `_OTHER` for a code that a plugin defines | the same |
/// | `network.protocol.version` | the version of HTTP, such as `2`, if the transport reports the connection | `request.duration`, the sizes |
/// | `pipeline.cache` | `CacheStatus.kind`: `hit`, `stale`, `revalidated`, `miss` or `bypass` | `calls.cached` |
/// | `pipeline.plugin`, `pipeline.event` | the plugin, such as `CircuitBreakerPlugin`, and what it did, such as `opened` | `plugin.events`, `plugin.wait` |
/// | `pipeline.target` | the type of the target; only with `showsTarget` | all |
///
/// - Changes nothing and reads no body.
/// - An exchange with a status outside 100...399 has failed. A call has failed if it ends with an error, also from
///   decoding, or with a status that its target does not accept. If the target accepts any status, a status of 400 or
///   above is a failure.
/// - The server of a call is that of its first exchange.
/// - A streamed call ends with its stream.
/// - Measures bodies in memory, files that are sent and, by their Content-Length, downloads, but not streams or empty
///   bodies.
/// - Keeps one metric object for each series, at most `maximumSeriesCount`. The values of further series are recorded
///   with `otel.metric.overflow` as the only attribute.
/// - The factory makes each metric when it is first needed, never under a lock.
/// - Measures durations with the provider's clock.
///
/// **Defaults**
///
/// | setting | default | unit | range |
/// |---|---|---|---|
/// | `prefix` | `pipeline.` | | the beginning of the names that OpenTelemetry does not define |
/// | `maximumHostCount` | 20 | hosts with their ports | 0 and up |
/// | `knownMethods` | `.standardMethods`: those of RFC 9110, PATCH and QUERY | | |
/// | `showsTarget` | `false` | | |
/// | `maximumSeriesCount` | 1,000 | metric objects | 1 and up; up to 15 more that hold the rest |
/// | `factory` | `MetricsSystem.factory` | | |
///
/// **Position**: anywhere. Each call counts once, and each exchange counts once. Inside a plugin that shares responses,
/// `pipeline.calls.active` does not include calls that wait for the exchange of another call.
///
/// **Errors**: throws none. Failures pass through unchanged.
///
/// **Secrets**: no attribute contains a path, a query, a header field, a body, a user name or the text of an error. A
/// `pathTemplate` must not contain values.
///
/// Source: OpenTelemetry semantic conventions for HTTP metrics,
/// https://opentelemetry.io/docs/specs/semconv/http/http-metrics/
public struct MetricsPlugin: Stage.Prepare, Stage.WillSend, Stage.DidReceive, Stage.DidFinish {
    /// The upper bounds of the buckets that OpenTelemetry recommends for `http.client.request.duration`, in seconds.
    ///
    /// swift-metrics cannot pass them on, so set them in the configuration of the backend.
    public static let durationBuckets = [
        0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
    ]

    private let knownMethods: Set<HTTPRequest.Method>
    private let showsTarget: Bool
    private let store: MetricStore

    /// Makes a plugin.
    ///
    /// - Parameters:
    ///   - prefix: the beginning of the names of all metrics that OpenTelemetry does not define.
    ///   - maximumHostCount: how many hosts with their ports have a name of their own, 0 and up.
    ///   - knownMethods: the methods that have a name of their own; replaces the default.
    ///   - showsTarget: whether there is an attribute `pipeline.target` with the type of the target.
    ///   - maximumSeriesCount: how many metric objects are kept, 1 and up.
    ///   - factory: makes the metrics; `nil` uses the factory that `MetricsSystem` has when a metric is made.
    public init(
        prefix: String = "pipeline.",
        maximumHostCount: Int = 20,
        knownMethods: Set<HTTPRequest.Method> = .standardMethods,
        showsTarget: Bool = false,
        maximumSeriesCount: Int = 1_000,
        factory: (any MetricsFactory)? = nil
    ) {
        precondition(maximumHostCount >= 0, "maximumHostCount is \(maximumHostCount), not 0 or more")
        precondition(maximumSeriesCount >= 1, "maximumSeriesCount is \(maximumSeriesCount), not 1 or more")
        self.knownMethods = knownMethods
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
        let place = place(request, context)
        // Calls share this state, and some may continue after the first has ended.
        let isFirst = note(context) { $0.begin(place) }
        if isFirst { store.begin(.activeCalls, place) }
    }

    /// Counts the call when it ends, even if it never became a request.
    public func didFinish(_ outcome: Stage.Outcome, context: PipelineContext) {
        let active = note(context) { $0.end() }
        if let active { store.end(.activeCalls, active) }
        var attributes =
            outcome.exchanges.first.map { place($0.request, context) } ?? active
            ?? place(try? PipelineRequest(context.endpoint.method, url: context.endpoint.url), context)
        if context.isJoined {
            store.count(.joinedCalls, attributes)
        } else if outcome.exchanges.isEmpty, outcome.statusCode != nil {
            store.count(.unsentCalls, attributes)
        }
        if let kind = context.cacheStatus?.kind, context.parentID == nil, outcome.statusCode != nil {
            var cached = attributes
            cached.cache = kind.rawValue
            store.count(.cachedCalls, cached)
        }
        for annotation in outcome.annotations {
            var event = attributes
            event.plugin = annotation.plugin
            event.event = annotation.event
            store.count(.pluginEvents, event)
            if let duration = annotation.duration { store.time(duration, in: .pluginWait, event) }
        }
        attributes.statusCode = outcome.statusCode
        attributes.errorType = ErrorType.ofCall(outcome.error, statusCode: outcome.statusCode, context.validationType)
        store.count(.calls, attributes)
        store.time(outcome.duration, in: .callDuration, attributes)
    }

    // MARK: Exchanges

    /// Adds the exchange to those in progress.
    public func willSend(_ request: PipelineRequest, context: PipelineContext) {
        let place = place(request, context)
        store.begin(.activeRequests, place)
        guard context.hop > 0 || context.attempt > 1 else { return }
        let isFirst = note(context) { $0.steps.insert(.init(attempt: context.attempt, hop: context.hop)).inserted }
        if isFirst { store.count(context.hop > 0 ? .redirects : .retries, place) }
    }

    /// Records the duration of the exchange and the sizes of its bodies.
    public func didReceive(_ result: Result<PipelineResponse, PipelineError>, context: PipelineContext) {
        guard let exchange = context.exchange else { return }
        var attributes = place(exchange.request, context)
        store.end(.activeRequests, attributes)
        if let wait = exchange.connectionWait { store.time(wait, in: .connectionWait, attributes) }
        attributes.statusCode = exchange.statusCode
        attributes.protocolVersion = exchange.connection?.protocolVersion
        switch result {
        case .success(let response): attributes.errorType = ErrorType.of(statusCode: response.statusCode)
        case .failure(let error): attributes.errorType = ErrorType.of(error.code)
        }
        store.record(exchange.duration / .seconds(1), in: .requestDuration, attributes)
        if let byteCount = exchange.request.body.byteCount, byteCount > 0 {
            store.record(Double(byteCount), in: .requestBodySize, attributes)
        }
        if case .success(let response) = result, let byteCount = Self.receivedByteCount(of: response, context),
            byteCount > 0
        {
            store.record(Double(byteCount), in: .responseBodySize, attributes)
        }
    }

    /// Counts a download by its Content-Length: its file may contain bytes of an earlier download.
    private static func receivedByteCount(of response: PipelineResponse, _ context: PipelineContext) -> Int? {
        if let bytes = response.body.bytes, !bytes.isEmpty { return bytes.count }
        guard context.isDownload else { return nil }
        return response.headers[.contentLength].flatMap { Int($0) }
    }

    /// Updates the state that this store keeps for the call.
    private func note<Output: Sendable>(_ context: PipelineContext, _ change: (inout CountedCall) -> Output) -> Output {
        let key = ObjectIdentifier(store)
        return context.update(CountedCalls.self) { change(&$0[key, default: CountedCall()]) }
    }

    /// Returns the attributes of a request.
    private func place(_ request: PipelineRequest?, _ context: PipelineContext) -> MetricAttributes {
        MetricAttributes(
            method: knownMethods.name(of: request?.method ?? context.endpoint.method),
            server: request?.observedServer.map { store.bounded($0) },
            scheme: request?.head.scheme,
            template: context.observedTemplate,
            target: showsTarget ? "\(type(of: context.target))" : nil
        )
    }
}

/// What one store has counted for a call.
private struct CountedCall: Sendable {
    struct Step: Hashable {
        let attempt: Int
        let hop: Int
    }

    private var active: MetricAttributes?
    private var hasEnded = false
    /// The retries and redirects counted so far; each of them may have several exchanges.
    var steps: Set<Step> = []

    /// Returns whether to count the call as in progress.
    mutating func begin(_ attributes: MetricAttributes) -> Bool {
        guard active == nil, !hasEnded else { return false }
        active = attributes
        return true
    }

    /// Returns the attributes with which the call was counted as in progress.
    mutating func end() -> MetricAttributes? {
        hasEnded = true
        return active
    }
}

/// The counted state of the call, by store.
private enum CountedCalls: PipelineContext.Key {
    static let defaultValue: [ObjectIdentifier: CountedCall] = [:]
}

extension PluginCapability {
    static let metrics = Self("measures exchanges")
}

extension MetricsPlugin: CapabilityDeclaring {
    /// A capability of its own: the plugin measures each exchange.
    public var capabilities: Set<PluginCapability> { [.metrics] }

    /// Finds another metrics plugin.
    public var orderRules: [OrderRule] {
        [
            OrderRule(
                "metrics-twice",
                [.metrics],
                .inside,
                [.metrics],
                consequence: "each exchange is measured twice",
                remedy: "remove the inner one"
            )
        ]
    }
}
#endif
