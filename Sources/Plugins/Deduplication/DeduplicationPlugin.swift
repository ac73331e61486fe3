public import HTTPTypes
public import Pipeline

/// Lets equal requests that are in flight at the same time share one exchange.
///
/// ```swift
/// DeduplicationPlugin()
/// DeduplicationPlugin(ignoredFields: DeduplicationPlugin.standardIgnoredFields.union([.userAgent]))
/// ```
///
/// The first call leads: its exchange is begun. Equal calls that come before it ends join: they wait for the same answer.
///
/// **Position**: inside every plugin that sets a credential or another field, since what is set further inside is not
/// compared: outside of `AccessTokenPlugin` two users could share one answer. Inside a plugin that sends again, each call
/// decides for itself whether to, and those that do at the same time share that exchange too; outside of it, calls share all
/// attempts and waits. Inside a plugin that decodes bodies each call decodes its own; outside of it they are decoded once.
/// Plugins outside run for every call. Those inside, and `willSend` and `didReceive` of all, run once for all calls that
/// share, with the target, options and deadline of the call that leads, also when that call has ended.
///
/// **Effects**: requests are equal when method, URL, header fields and body are, byte by byte as they stand at the plugin's
/// place, besides the names marked as secret, `attemptTimeout` and `idleTimeout`. The order of fields of different names
/// does not count, nor do the fields of `ignoredFields`, unless they are marked as secret; the order of query items does.
/// Calls of different providers never share. Each call has a response, or an error, of its own: what is done to it no other call
/// sees. Its request is as sent, with the call's own ignored fields; its exchanges are the call's own, without the one that
/// it has joined, and `context.isJoined` is `true` then. A call that is cancelled ends at once and alone; the exchange is
/// cancelled when the last has gone, and an equal call begins another.
///
/// A call has an exchange of its own when it is read as a stream, downloads, or is watched; when its request has a file or a
/// stream as its body; when it is made within a shared exchange; and when a bound is reached. So has a call of a method that
/// is not in `methods`, unless its option `deduplication` is `.on`, and every call whose option is `.off`. When such a call
/// of a method that is not safe has ended, nobody joins the exchanges that began before: they may tell what was before the
/// change. Nothing is kept once an exchange has ended. One answer in memory serves all; a stream that a plugin inside makes
/// of it is read into memory under the provider's limit.
///
/// **Defaults**
///
/// | setting | default | unit | range |
/// |---|---|---|---|
/// | `methods` | GET, HEAD, OPTIONS, QUERY: the safe ones without TRACE, whose answer is the request itself | | |
/// | `ignoredFields` | X-Request-ID, traceparent, tracestate | | all but Authorization, Proxy-Authorization, Cookie |
/// | `maximumCallerCount` | 10,000 | calls that wait for one exchange; the next begins another | 1 and up |
/// | `maximumExchangeCount` | 1,000 | shared exchanges in flight; a call that would begin one more has its own | 1 and up |
///
/// **Errors**: throws none of its own. The failure of an exchange is the failure of all calls that share it; none sends
/// again. That the call which leads was cancelled, or has run out of time outside, is no failure of the others. A cancelled
/// call ends in `CancellationError`.
///
/// **Secrets**: credentials are compared, and kept as long as the exchange is in flight; nothing shows them.
///
/// Source: RFC 9110 §9.2.1 (safe methods), https://www.rfc-editor.org/rfc/rfc9110.html#section-9.2.1,
/// RFC 9111 §4 (collapsed requests), https://www.rfc-editor.org/rfc/rfc9111.html#section-4
public struct DeduplicationPlugin: Stage.Intercept {
    /// GET, HEAD, OPTIONS and QUERY.
    public static let standardMethods: Set<HTTPMethod> = safeMethods.subtracting([.trace])

    /// X-Request-ID, traceparent and tracestate.
    public static let standardIgnoredFields = Set(
        ["X-Request-ID", "traceparent", "tracestate"].compactMap { HTTPField.Name($0) }
    )

    private static let safeMethods = Set<HTTPMethod>([.get, .head, .options, .trace]).union(
        [HTTPMethod(rawValue: "QUERY")].compactMap(\.self)
    )

    private let methods: Set<HTTPMethod>
    private let ignoredFields: Set<HTTPField.Name>
    private let inflight: InflightExchanges

    /// Makes a plugin.
    ///
    /// - Parameters:
    ///   - methods: the methods whose calls share without being asked to.
    ///   - ignoredFields: names of fields that may differ; none that carries a credential.
    ///   - maximumCallerCount: the most calls that wait for one exchange, 1 and up.
    ///   - maximumExchangeCount: the most shared exchanges in flight, 1 and up.
    public init(
        methods: Set<HTTPMethod> = standardMethods,
        ignoredFields: Set<HTTPField.Name> = standardIgnoredFields,
        maximumCallerCount: Int = 10_000,
        maximumExchangeCount: Int = 1_000
    ) {
        for name in [HTTPField.Name.authorization, .proxyAuthorization, .cookie] {
            precondition(!ignoredFields.contains(name), "ignoredFields has \(name), which carries a credential")
        }
        precondition(maximumCallerCount > 0, "maximumCallerCount is \(maximumCallerCount), not 1 or more")
        precondition(maximumExchangeCount > 0, "maximumExchangeCount is \(maximumExchangeCount), not 1 or more")
        self.methods = methods
        self.ignoredFields = ignoredFields
        self.inflight = InflightExchanges(
            maximumCallerCount: maximumCallerCount,
            maximumExchangeCount: maximumExchangeCount
        )
    }

    /// How many exchanges are in flight that calls share or could share.
    public var inflightCount: Int { inflight.exchangeCount }

    /// How many calls wait for those exchanges.
    public var callerCount: Int { inflight.callerCount }

    /// Joins an equal call, or leads.
    public func intercept(
        _ request: PipelineRequest,
        context: PipelineContext,
        next: Next
    ) async throws -> PipelineResponse {
        guard context.options.deduplication?.isOn ?? methods.contains(request.method) else {
            defer { if !Self.safeMethods.contains(request.method) { inflight.close() } }
            return try await next(request)
        }
        guard let key = key(of: request, context, next) else { return try await next(request) }
        switch await inflight.outcome(for: key, request, context, next) {
        case .refused: return try await next(request)
        case .cancelled: throw CancellationError()
        case .ended(let result, isJoined: false): return try result.get()
        case .ended(let result, isJoined: true):
            context.addJoin()
            return try own(result, request)
        }
    }

    /// `nil` for a call that has an exchange of its own.
    private func key(of request: PipelineRequest, _ context: PipelineContext, _ next: Next) -> InflightKey? {
        if context.wantsStream || InflightExchanges.isInside { return nil }
        return InflightKey(
            request,
            at: next.place,
            ignoring: ignoredFields,
            attemptTimeout: context.options.attemptTimeout ?? request.attemptTimeout,
            idleTimeout: context.options.idleTimeout ?? request.idleTimeout
        )
    }

    /// The result as the exchange of this call would have had it.
    private func own(
        _ result: Result<PipelineResponse, any Error>,
        _ request: PipelineRequest
    ) throws -> PipelineResponse {
        do {
            var response = try result.get()
            response.request = own(response.request, request)
            return response
        } catch var error as PipelineError {
            error.request = error.request.map { own($0, request) }
            if let response = error.response { error.response?.request = own(response.request, request) }
            throw error
        }
    }

    private func own(_ sent: PipelineRequest, _ request: PipelineRequest) -> PipelineRequest {
        var sent = sent
        for name in request.headers.lazy.map(\.name) where ignoredFields.contains(name) && !request.isSecret(name) {
            sent.headers[fields: name] = request.headers[fields: name]
        }
        return sent
    }
}

extension DeduplicationPlugin: OrderChecking {
    /// Finds a plugin inside that sets a credential, and another one of its kind outside.
    public func findings(in surroundings: PluginSurroundings) -> [PipelineDescription.Finding] {
        var findings: [PipelineDescription.Finding] = []
        for plugin in surroundings.inside where plugin is any AuthenticatingPlugin || plugin is HeadersPlugin {
            findings.append(
                .init(
                    "DeduplicationPlugin stands outside \(plugin.name): two users could share one answer, since what that sets is "
                        + "not compared; put it inside"
                )
            )
        }
        for plugin in surroundings.inside where plugin is MinimumDurationPlugin || plugin is UnauthorizedPlugin {
            findings.append(
                .init(
                    "DeduplicationPlugin stands outside \(plugin.name): that serves only the first of those who share an "
                        + "exchange; put it inside"
                )
            )
        }
        if surroundings.outside.contains(where: { $0 is DeduplicationPlugin }) {
            findings.append(
                .init("DeduplicationPlugin stands twice: within the outer one the inner one shares nothing; leave one")
            )
        }
        return findings
    }

    /// Says which plugins run once for all calls that share an exchange.
    public func notes(in surroundings: PluginSurroundings) -> [PipelineDescription.Finding] {
        let names = surroundings.inside.filter {
            $0 is any Stage.Prepare || $0 is any Stage.Intercept || $0 is any Stage.Process
        }.map(\.name)
        guard !names.isEmpty else { return [] }
        return [
            .init(
                "what stands inside DeduplicationPlugin (\(names.joined(separator: ", "))) runs once for all calls that "
                    + "share an exchange, with the target and options of the first"
            )
        ]
    }
}
