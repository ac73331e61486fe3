#if Tracing
public import Pipeline
public import Tracing

/// Makes a span for each call and one, inside it, for each exchange, with swift-distributed-tracing.
///
/// It is there with the package trait `Tracing`. ``Propagation``, an exchange plugin, tells servers the trace.
///
/// ```swift
/// plugins: [TracingPlugin(), RetryPlugin(), DeduplicationPlugin(), TracingPlugin.Propagation()]
/// ```
///
/// | span | kind | name | attributes |
/// |---|---|---|---|
/// | call | internal | `GET GitHub`: the method and the type of the target | those of the request, `http.response.status_code`, `error.type`, `pipeline.exchange_count` |
/// | exchange | client | `GET` | those of the request, `http.response.status_code`, `error.type`; of the second exchange of the call and those after it `http.request.resend_count` |
///
/// Those of the request are `http.request.method`, `url.full`, `url.scheme`, `server.address` and `server.port`. An exchange of
/// a later attempt has `pipeline.attempt`, one that follows a redirect `pipeline.hop`. A method that no RFC knows is `_OTHER`, and
/// `HTTP` in the name.
///
/// **Position**: outermost. The span of the call ends with the answer at the plugin's place. Inside a plugin that sends again
/// each attempt has a span of a call. Of two in one stack the inner one does nothing.
///
/// **Effects**: changes no message. The span of the call is a child of the one that is current where the call is made, and is
/// current itself for all that is inside: for other plugins and for the transport. The tracer is asked for at each call. An exchange
/// whose status is 400 or above has failed; a call has failed when it ends in an error, or in a status that its target does
/// not accept, or, of a target that accepts any, in a status of 400 or above. A failed span has the status `error` and as
/// `error.type` the error's code or the status. A call that was cancelled has not failed: only `error.type` says so. Of a
/// streamed answer the spans end with the header fields. Moments are those of the provider's clock.
///
/// **Defaults**
///
/// | setting | default |
/// |---|---|
/// | `tracer` | that of `InstrumentationSystem` |
/// | `redactor` | `Redactor.standard`, for `url.full` |
///
/// **Errors**: throws none, and passes every failure on.
///
/// **Secrets**: `url.full` is shown through the `redactor`, without user name, password and query values; no header field and
/// no body is recorded. Of an error its description is recorded, which holds none; the error itself is not.
///
/// Source: OpenTelemetry semantic conventions for HTTP spans, https://opentelemetry.io/docs/specs/semconv/http/http-spans/
public struct TracingPlugin: Stage.Intercept, Stage.WillSend, Stage.DidReceive {
    private let tracer: (any Tracer)?
    private let text: SpanText

    /// Makes a plugin.
    ///
    /// - Parameters:
    ///   - tracer: makes the spans; `nil` for that of `InstrumentationSystem` at the time of the call.
    ///   - redactor: what `url.full` shows.
    public init(tracer: (any Tracer)? = nil, redactor: Redactor = .standard) {
        self.tracer = tracer
        self.text = SpanText(redactor: redactor)
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
            request,
            context,
            tracer: tracer ?? InstrumentationSystem.tracer,
            instrument: tracer ?? InstrumentationSystem.instrument,
            text: text
        )
        context.update(CurrentTrace.self) { $0.trace = trace }
        do {
            let response = try await ServiceContext.withValue(trace.call.context) { try await next(request) }
            let isFailure = SpanText.isFailure(response.statusCode, of: context.target)
            trace.end(context) { SpanText.end($0, statusCode: response.statusCode, isFailure: isFailure) }
            return response
        } catch {
            trace.end(context) { SpanText.end($0, error as? PipelineError ?? PipelineError(.cancelled, "")) }
            throw error
        }
    }

    /// Begins the span of the exchange.
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
    /// A capability of its own: it makes a span for each call.
    public var capabilities: Set<PluginCapability> { [.traces] }

    /// Finds another one outside; notes a missing ``Propagation`` and interceptors outside.
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
                severity: .note
            ),
            OrderRule(
                "tracing-inside-interceptor",
                [.traces],
                .inside,
                [.intercepts],
                except: [.traces],
                consequence:
                    "each attempt of the outer plugin has a call span, and what it responds with itself has none",
                severity: .note
            ),
        ]
    }
}
#endif
