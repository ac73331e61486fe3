#if Tracing
public import Pipeline
public import Tracing

/// A plugin that makes a span for each call and, inside it, one for each exchange, with swift-distributed-tracing.
///
/// ```swift
/// plugins: [TracingPlugin(), RetryPlugin(), DeduplicationPlugin(), TracingPlugin.Propagation()]
/// ```
///
/// It requires the package trait `Tracing`. ``Propagation``, an exchange plugin, sends the trace to servers.
///
/// **Effects**
///
/// | span | kind | name | attributes |
/// |---|---|---|---|
/// | call | internal | `GET GitHub`: the method and the type of the target | those of the request, `http.response.status_code`, `error.type`, `pipeline.exchange_count`; with ``CachePlugin``, `pipeline.cache`, such as `hit` |
/// | exchange | client | `GET` | those of the request, `http.response.status_code`, `error.type`; from the second exchange of the call on, `http.request.resend_count` |
///
/// The attributes of the request are `http.request.method`, `url.full`, `url.scheme`, `server.address` and
/// `server.port`. An exchange of a later attempt also has `pipeline.attempt`, and one that follows a redirect has
/// `pipeline.hop`. A method that no RFC defines is `_OTHER`, and `HTTP` in the name of the span.
///
/// - Changes no message.
/// - The call span is a child of the span that is current where the call is made. It is itself current for everything
///   inside, plugins and transport.
/// - Reads the tracer for each call.
/// - An exchange with a status of 400 or above has failed. A call has failed if it ends with an error or with a status
///   that its target does not accept. If the target accepts any status, a status of 400 or above is a failure.
/// - A failed span has the status `error`, and the error's code or the status as `error.type`. A cancelled call has not
///   failed; only its `error.type` is set.
/// - The spans of a streamed call end with the header fields.
/// - Uses the provider's clock for all instants.
///
/// **Defaults**
///
/// | setting | default |
/// |---|---|
/// | `tracer` | that of `InstrumentationSystem` |
/// | `redactor` | `Redactor.standard`, for `url.full` |
///
/// **Position**
///
/// - Outermost. The span of the call ends when the response reaches the plugin.
/// - Inside a plugin that retries, each attempt has a call span of its own.
/// - If a stack has two, the inner one does nothing.
///
/// **Errors**: throws none. Failures pass through unchanged.
///
/// **Secrets**: `url.full` is redacted with the `redactor`, without user name, password and query values. Header fields
/// and bodies are not recorded. Of an error, only its description is recorded, which contains no secret.
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
            trace.end(context) { span in
                SpanText.end(span, statusCode: response.statusCode, isFailure: isFailure)
                guard let status = response.cacheStatus else { return }
                span.updateAttributes { $0["pipeline.cache"] = status.kind.rawValue }
            }
            return response
        } catch {
            trace.end(context) { SpanText.end($0, error as? PipelineError ?? PipelineError(.cancelled, "")) }
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
