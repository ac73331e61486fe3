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
/// | `pipeline.call.duration` | timer | from the beginning of the call to its end at the plugin's place | the same |
/// | `pipeline.calls.active` | meter | calls that go on | none |
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
/// **Position**: outermost. Inside a plugin that sends again each of its attempts counts as a call, whose duration is still
/// counted from the beginning of the call. Exchanges are counted alike wherever it stands.
///
/// **Effects**: changes nothing; no body is read. A call of any status that its target accepts is a success. The host of a
/// call is that of its first exchange. A streamed call ends with its header fields. Bytes are counted of bodies in memory,
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
public struct MetricsPlugin: Stage.Intercept, Stage.WillSend, Stage.DidReceive, Stage.Process {
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
    public func intercept(
        _ request: PipelineRequest,
        context: PipelineContext,
        next: Next
    ) async throws -> PipelineResponse {
        store.begin(.activeCalls)
        defer { store.end(.activeCalls) }
        return try await next(request)
    }

    /// Counts the call, also one that never became a request.
    public func process(_ result: inout Result<PipelineResponse, PipelineError>, context: PipelineContext) async {
        let exchanges = context.exchanges
        let place = place(
            exchanges.first?.request ?? (try? PipelineRequest(context.endpoint.method, url: context.endpoint.url)),
            context
        )
        if context.isJoined { store.add(to: .joinedCalls, place) }
        let statusCode: Int?
        switch result {
        case .success(let response):
            statusCode = response.statusCode
            if exchanges.isEmpty, !context.isJoined { store.add(to: .unsentCalls, place) }
        case .failure(let error): statusCode = error.response?.statusCode
        }
        let labels = ended(place, statusCode, MetricLabels.outcome(result, of: context.target), context)
        store.add(to: .calls, labels)
        store.record(context.start.duration(to: context.clock.now), in: .callDuration, labels)
    }

    // MARK: Exchanges

    /// Counts the exchange among those that go on, and the body that it sends.
    public func willSend(_ request: PipelineRequest, context: PipelineContext) {
        store.begin(.activeExchanges)
        let place = place(request, context)
        if context.hop > 0 {
            store.add(to: .redirects, place)
        } else if context.attempt > 1 {
            store.add(to: .retries, place)
        }
        if let byteCount = request.body.byteCount, byteCount > 0 { store.add(byteCount, to: .sentBytes, place) }
    }

    /// Counts the exchange and the body that it received.
    public func didReceive(_ result: Result<PipelineResponse, PipelineError>, context: PipelineContext) {
        store.end(.activeExchanges)
        let exchanges: [PipelineExchange]
        var outcome = MetricLabels.success
        switch result {
        case .success(let response): exchanges = response.exchanges
        case .failure(let error):
            exchanges = error.exchanges
            outcome = MetricLabels.outcome(error.code)
        }
        // The last of them is the one that has just ended.
        guard let exchange = exchanges.last else { return }
        let place = place(exchange.request, context)
        let labels = ended(place, exchange.statusCode, outcome, context)
        store.add(to: .exchanges, labels)
        store.record(exchange.duration, in: .exchangeDuration, labels)
        if let wait = exchange.connectionWait { store.record(wait, in: .connectionWait, place) }
        if case .success(let response) = result, let byteCount = Self.receivedByteCount(of: response), byteCount > 0 {
            store.add(byteCount, to: .receivedBytes, place)
        }
    }

    /// The file of a download may hold what an earlier one has left.
    private static func receivedByteCount(of response: PipelineResponse) -> Int? {
        if let bytes = response.body.bytes { return bytes.count }
        guard response.body.fileURL != nil else { return nil }
        return response.headers[.contentLength].flatMap { Int($0) }
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

extension MetricsPlugin: CapabilityDeclaring {
    private var counts: PluginCapability { .init("counts calls under \(prefix)") }

    /// A capability of its own, which holds the prefix.
    public var capabilities: Set<PluginCapability> { [counts] }

    /// Finds another plugin with the same prefix; notes interceptors outside.
    public var orderRules: [OrderRule] {
        [
            OrderRule(
                "metrics-twice",
                [counts],
                .inside,
                [counts],
                consequence: "each call and exchange is counted twice as \(prefix)…",
                remedy: "remove the inner one or change the prefix of one of them"
            ),
            OrderRule(
                "metrics-inside-interceptor",
                [counts],
                .inside,
                [.intercepts],
                except: [counts],
                consequence:
                    "each attempt of the outer plugin counts as a call, and what it responds with itself does not count",
                severity: .note
            ),
        ]
    }
}
#endif
