public import HTTPTypes
public import PipelineCore

/// A plugin that lets equal requests in flight at the same time share one exchange.
///
/// ```swift
/// DeduplicationPlugin()
/// DeduplicationPlugin(ignoredFields: DeduplicationPlugin.standardIgnoredFields.union([.userAgent]))
/// ```
///
/// The first call leads: it begins the exchange. Equal calls that arrive before the exchange ends join it and get the
/// same result. The calls that shared an exchange also share the next one. If several of them retry, or send a second
/// request with a new token, the first to do so begins one exchange, and the others get its result.
///
/// **Effects**
///
/// Which calls share:
///
/// - Requests are equal if, at the plugin's position, these are equal byte for byte: method, URL, header fields, body,
///   the names marked as secret, `attemptTimeout`, `idleTimeout`, and options such as `priority` and `cost` (those with
///   a `sharingText`). The order of
///   fields with different names does not matter; the order of query items does. Calls of different providers never
///   share.
/// - Fields in `ignoredFields` are not compared unless they are marked as secret.
/// - A call has its own exchange if it is streamed, downloads or reports progress, if its body is a file or a stream,
///   if it is made within a shared exchange, or if a bound is reached.
/// - A call with a method that is not in `methods` also has its own exchange, unless its option `deduplication` is
///   `.on`. So does every call whose option is `.off`.
/// - When such a call with an unsafe method ends, later calls get no result of an exchange that began before, because
///   it may predate the change.
/// - After ``signOut()``, later calls do not join an exchange that began before.
///
/// What each call gets:
///
/// - Each call has its own response or error, which it can change without effect on other calls. The request in it has
///   the call's own ignored fields. Its exchanges do not include the one that it joined; `context.isJoined` is `true`
///   instead.
/// - A cancelled call ends at once and does not affect the others. When the last call has left, the exchange is
///   cancelled.
/// - A call that shared an exchange may repeat its request, changed or not. If another of these calls has begun or
///   joined an exchange since, for an equal request, the call joins that exchange. For up to 30 s after its end, the
///   call gets its result, which is newer than the shared one. With ``RetryPlugin`` outside, these calls wait together
///   and take from its budget once.
/// - After a success, an unchanged request begins a new exchange, because a plugin that polls wants to see a change.
///
/// What is kept:
///
/// - One response in memory serves all calls. If a plugin inside makes it a stream, it is read into memory under the
///   provider's limit.
/// - After an exchange has ended, its result is kept only while a call may still use it: one that shared the exchange
///   before and has not shared another since.
///
/// **Defaults**
///
/// | setting | default | unit | range |
/// |---|---|---|---|
/// | `methods` | GET, HEAD, OPTIONS, QUERY: the safe methods except TRACE, whose response is the request itself | | |
/// | `ignoredFields` | X-Request-ID, traceparent, tracestate | | all but Authorization, Proxy-Authorization, Cookie |
/// | `maximumCallerCount` | 10,000 | calls that wait for one exchange; the next call begins another | 1 and up |
/// | `maximumExchangeCount` | 1,000 | shared exchanges in flight, and results kept; beyond it, a call has its own exchange | 1 and up |
/// | `maximumAge` | 10 s | since the exchange began; after that, the next call begins another, so that one that hangs holds up only those that came early | more than zero, `nil` for any |
///
/// **Position**
///
/// - Inside every plugin that sets a credential or another field, because fields set further inside are not compared.
///   If a plugin or the transport inside sets a credential, or another field that may name an account, without an
///   identity (`PipelineContext.addIdentity(_:of:)`), its response goes to the call that leads only; the others send
///   their own requests, and a warning is logged once. Fields of the message and of the exchange, such as
///   Accept-Encoding, If-None-Match, Idempotency-Key and traceparent, name no account.
/// - Inside a plugin that retries, each call decides on its own whether to retry, and those that retry share that
///   exchange, too. Outside it, calls share all attempts and waits.
/// - Inside a plugin that decodes bodies, each call decodes its own; outside it, they are decoded once.
/// - Plugins outside run for every call. Plugins inside, and `willSend` and `didReceive` of all plugins, run once for
///   all calls that share. They get the target, options and deadline of the call that leads, even after that call has
///   ended. `RateLimitPlugin` and `ConcurrencyLimitPlugin` wait until the latest deadline of the calls that share
///   the exchange, also of those that join while it waits.
///
/// **Errors**: throws none of its own. If an exchange fails, all calls that share it fail; the plugin does not retry.
/// If the call that leads is cancelled, or times out in a plugin outside, the others are not affected. A cancelled call
/// throws `CancellationError`.
///
/// **Secrets**: compares credentials. It keeps them until the exchange and the calls that shared it have ended. No
/// description shows them.
///
/// Source: RFC 9110 §9.2.1 (safe methods), https://www.rfc-editor.org/rfc/rfc9110.html#section-9.2.1, RFC 9111 §4
/// (collapsed requests), https://www.rfc-editor.org/rfc/rfc9111.html#section-4
public struct DeduplicationPlugin: Stage.Intercept {
    /// The default methods whose calls share exchanges: GET, HEAD, OPTIONS and QUERY.
    public static let standardMethods: Set<HTTPRequest.Method> = safeMethods.subtracting([.trace])

    /// The default fields that are not compared: X-Request-ID, traceparent and tracestate.
    public static let standardIgnoredFields = Set(
        ["X-Request-ID", "traceparent", "tracestate"].compactMap { HTTPField.Name($0) }
    )

    private static let safeMethods = RetryPolicy.idempotentMethods.subtracting([.put, .delete])

    private let methods: Set<HTTPRequest.Method>
    /// An array, because a few comparisons cost less than hashing a name.
    private let ignoredFields: [HTTPField.Name]
    private let inflight: InflightExchanges

    /// Creates a plugin that shares exchanges.
    ///
    /// - Parameters:
    ///   - methods: the methods whose calls share exchanges unless the option `deduplication` is `.off`.
    ///   - ignoredFields: the names of fields that may differ. None may carry a credential.
    ///   - maximumCallerCount: how many calls may wait for one exchange, 1 and up.
    ///   - maximumExchangeCount: how many shared exchanges may be in flight, and how many results are kept, 1 and up.
    ///   - maximumAge: how long after its beginning an exchange may be joined; `nil` for its whole duration.
    public init(
        methods: Set<HTTPRequest.Method> = standardMethods,
        ignoredFields: Set<HTTPField.Name> = standardIgnoredFields,
        maximumCallerCount: Int = 10_000,
        maximumExchangeCount: Int = 1_000,
        maximumAge: Duration? = .seconds(10)
    ) {
        for name in [HTTPField.Name.authorization, .proxyAuthorization, .cookie] {
            precondition(!ignoredFields.contains(name), "ignoredFields has \(name), which carries a credential")
        }
        precondition(maximumCallerCount > 0, "maximumCallerCount is \(maximumCallerCount), not 1 or more")
        precondition(maximumExchangeCount > 0, "maximumExchangeCount is \(maximumExchangeCount), not 1 or more")
        if let maximumAge { precondition(maximumAge > .zero, "maximumAge is \(maximumAge), not more than zero") }
        self.methods = methods
        self.ignoredFields = Array(ignoredFields)
        self.inflight = InflightExchanges(
            maximumCallerCount: maximumCallerCount,
            maximumExchangeCount: maximumExchangeCount,
            maximumAge: maximumAge
        )
    }

    /// The number of exchanges in flight that calls share or could share.
    public var inflightCount: Int { inflight.exchangeCount }

    /// The number of calls that wait for those exchanges.
    public var callerCount: Int { inflight.callerCount }

    /// Joins the exchange of an equal request if one is in flight, and begins one otherwise.
    public func intercept(
        _ request: PipelineRequest,
        context: PipelineContext,
        next: Stage.Next
    ) async throws -> PipelineResponse {
        guard context.options.deduplication?.isOn ?? methods.contains(request.method) else {
            defer { if !Self.safeMethods.contains(request.method) { inflight.close() } }
            return try await next(request)
        }
        guard let key = key(of: request, context, next) else {
            context.share(nil)
            return try await next(request)
        }
        let outcome = await context.recordSpan("shared exchange", as: .wait) {
            await inflight.outcome(for: key, request, context, next)
        }
        switch outcome {
        case .refused: return try await next(request)
        case .cancelled: throw CancellationError()
        case .ended(let result, isJoined: false, _): return try result.get()
        case .ended(let result, isJoined: true, _): return try own(result, request)
        }
    }

    /// Returns the key of the call; `nil` if the call has its own exchange.
    private func key(of request: PipelineRequest, _ context: PipelineContext, _ next: Stage.Next) -> InflightKey? {
        // The second run after a failure gets what the cache has, and no call that begins meanwhile may join it.
        if context.wantsStream || Stage.SharedDeadline.current != nil || context[Stage.StaleUse.self] == .required {
            return nil
        }
        return InflightKey(
            request,
            at: next.position,
            ignoring: ignoredFields,
            identities: context.identities,
            attemptTimeout: context.options.attemptTimeout ?? request.attemptTimeout,
            idleTimeout: context.options.idleTimeout ?? request.idleTimeout,
            options: context.options.sharingTexts
        )
    }

    /// Returns the result with the call's own ignored fields in its request.
    private func own(
        _ result: Result<PipelineResponse, any Error>,
        _ request: PipelineRequest
    ) throws -> PipelineResponse {
        guard request.headers.contains(where: { isOwn($0.name, request) }) else { return try result.get() }
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
        for name in request.headers.lazy.map(\.name) where isOwn(name, request) {
            sent.headers[fields: name] = request.headers[fields: name]
        }
        return sent
    }

    private func isOwn(_ name: HTTPField.Name, _ request: PipelineRequest) -> Bool {
        ignoredFields.contains(name) && !request.isSecret(name)
    }
}

extension DeduplicationPlugin: SignOutHandling {
    /// Lets no later call join an exchange that is in flight, or get its result.
    public func signOut() { inflight.close() }
}

extension DeduplicationPlugin: CapabilityDeclaring {
    /// The capability of this plugin: `PluginCapability.sharesResponses`.
    public var capabilities: Set<PluginCapability> { [.sharesResponses] }
}
