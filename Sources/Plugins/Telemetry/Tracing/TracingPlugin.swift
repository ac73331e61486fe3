#if Telemetry
public import HTTPTypes
public import PipelineCore
public import Tracing

/// A plugin that makes a span for each call and, inside it, one for each exchange, with swift-distributed-tracing.
///
/// ```swift
/// plugins: [TracingPlugin(), RetryPlugin(), DeduplicationPlugin(), TracingPlugin.Propagation()]
/// ```
///
/// It requires the package trait `Telemetry`. ``Propagation``, an exchange plugin, sends the trace to servers.
///
/// **Effects**
///
/// | span | kind | name | attributes |
/// |---|---|---|---|
/// | exchange | client | `GET` or, with a template, `GET /users/{id}` | those of OpenTelemetry's HTTP conventions 1.44, below |
/// | call | internal | the type of the target and, if any, the template: `GitHub /users/{id}` | `pipeline.exchange_count`, `error.type`; with `CachePlugin`, `pipeline.cache`, such as `hit` |
///
/// | attribute of an exchange | value |
/// |---|---|
/// | `http.request.method` | a known method, or `_OTHER` for any other; the name of the span then begins with `HTTP` |
/// | `http.request.method_original` | the method, if it is `_OTHER` |
/// | `url.full`, `url.scheme` | the URL, redacted |
/// | `url.template` | the target's `pathTemplate`, if it has one; none after a redirect |
/// | `server.address`, `server.port` | the host in lower case, and its port or the default of the scheme |
/// | `http.response.status_code` | the status, if there was a response |
/// | `error.type` | only for failures: the status, or the code of the error, such as `timeout.connect`; `_OTHER` for a code that a plugin defines |
/// | `network.protocol.version`, `network.peer.address`, `network.peer.port` | the version of HTTP, and the server or proxy, if the transport reports the connection |
/// | `http.request.resend_count` | the number of earlier exchanges of the call, if any |
/// | `pipeline.attempt`, `pipeline.hop` | the attempt from the second on, and the number of redirects if any |
///
/// - Changes no message.
/// - The call span is a child of the span that is current where the call is made. It is itself current for everything
///   inside, plugins and transport.
/// - Reads the tracer for each call.
/// - An exchange with a status outside 100...399 has failed. A call has failed if it ends with an error or with a
///   status that its target does not accept. If the target accepts any status, a status of 400 or above is a failure.
/// - A failed span has the status `error`. So has the span of a cancelled call or exchange, with `cancelled` as
///   `error.type`. The conventions advise to set neither if the caller cancels on purpose, which a task does not tell.
/// - The spans of a streamed call end with the header fields.
/// - Uses the provider's clock for all instants.
///
/// **Defaults**
///
/// | setting | default |
/// |---|---|
/// | `tracer` | that of `InstrumentationSystem` |
/// | `redactor` | `Redactor.standard`, for `url.full` |
/// | `knownMethods` | `.standardMethods`: those of RFC 9110, PATCH and QUERY |
///
/// **Position**
///
/// - Outermost. The span of the call ends when the response reaches the plugin.
/// - Inside a plugin that retries, each attempt has a call span of its own.
/// - If a stack has two, the inner one does nothing.
///
/// **Errors**: throws none. Failures pass through unchanged.
///
/// **Secrets**: `url.full` is redacted with the `redactor`, without user name, password and all query values, of which
/// OpenTelemetry hides only a few. Header fields and bodies are not recorded. Of an error, only its description is
/// recorded, which contains no secret.
///
/// Source: OpenTelemetry semantic conventions for HTTP spans,
/// https://opentelemetry.io/docs/specs/semconv/http/http-spans/
public struct TracingPlugin: Stage.Intercept, Stage.WillSend, Stage.DidReceive {
    private let tracer: (any Tracer)?
    private let text: SpanText

    /// Makes a plugin.
    ///
    /// - Parameters:
    ///   - tracer: makes the spans; `nil` uses the tracer of `InstrumentationSystem` at the time of the call.
    ///   - redactor: decides which parts of `url.full` are shown.
    ///   - knownMethods: the methods that have a name of their own; replaces the default.
    public init(
        tracer: (any Tracer)? = nil,
        redactor: Redactor = .standard,
        knownMethods: Set<HTTPRequest.Method> = .standardMethods
    ) {
        self.tracer = tracer
        self.text = SpanText(redactor: redactor, methods: knownMethods)
    }

    /// Makes the span of the call.
    public func intercept(
        _ request: PipelineRequest,
        context: PipelineContext,
        next: Stage.Next
    ) async throws -> PipelineResponse {
        guard context.update(CurrentTrace.self, { $0.reserve() }) else { return try await next(request) }
        defer { context.update(CurrentTrace.self) { $0.isReserved = false } }
        let trace = CallTrace(
            context,
            tracer: tracer ?? InstrumentationSystem.tracer,
            instrument: tracer ?? InstrumentationSystem.instrument,
            text: text
        )
        context.update(CurrentTrace.self) { $0.trace = trace }
        do {
            let response = try await ServiceContext.withValue(trace.call.context) { try await next(request) }
            trace.end(response, nil, context)
            return response
        } catch {
            trace.end(nil, error as? PipelineError ?? PipelineError(.cancelled, ""), context)
            throw error
        }
    }

    /// Starts the span of the exchange.
    public func willSend(_ request: PipelineRequest, context: PipelineContext) {
        context[CurrentTrace.self].trace?.willSend(request, context)
    }

    /// Ends the span of the exchange.
    public func didReceive(_ result: Result<PipelineResponse, PipelineError>, context: PipelineContext) {
        context[CurrentTrace.self].trace?.didReceive(result, context)
    }
}

extension PluginCapability {
    static let traces = Self("makes spans of calls")
    static let propagatesTraces = Self("propagates traces")
}

extension TracingPlugin: CapabilityDeclaring {
    /// A capability of its own: the plugin makes a span for each call.
    public var capabilities: Set<PluginCapability> { [.traces] }

    /// Finds another tracing plugin outside, and notes a missing ``Propagation`` and interceptors outside.
    public var orderRules: [OrderRule] {
        [
            OrderRule(
                "tracing-twice",
                [.traces],
                .inside,
                [.traces],
                consequence: "the inner one does nothing",
                remedy: "remove the inner one"
            ),
            OrderRule(
                "tracing-without-propagation",
                [.traces],
                .without,
                [.propagatesTraces],
                consequence: "no traceparent is sent",
                remedy: "add TracingPlugin.Propagation",
                severity: .hint
            ),
            OrderRule(
                "tracing-inside-interceptor",
                [.traces],
                .inside,
                [.intercepts],
                except: [.traces],
                consequence:
                    "each attempt of the outer plugin has a call span, and what it responds with itself has none",
                severity: .hint
            ),
        ]
    }
}
#endif
