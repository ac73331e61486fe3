#if Telemetry
import HTTPTypes
import PipelineCore
import Synchronization
import Tracing

/// The spans of one call.
final class CallTrace: Sendable {
    let instrument: any Instrument
    let call: any Span
    private let tracer: any Tracer
    private let text: SpanText
    private let timeline: TraceTimeline
    private let open = Mutex<[PipelineContext.ExchangeID: any Span]>([:])

    init(
        _ context: PipelineContext,
        tracer: any Tracer,
        instrument: any Instrument,
        text: SpanText
    ) {
        self.tracer = tracer
        self.instrument = instrument
        self.text = text
        timeline = TraceTimeline(context)
        call = tracer.startSpan(
            SpanText.name(of: context.target),
            context: .current ?? .topLevel,
            at: timeline.now(context)
        )
    }

    /// Ends the span of the call, which has a response, or has failed with an error.
    func end(_ response: PipelineResponse?, _ error: PipelineError?, _ context: PipelineContext) {
        if call.isRecording {
            call.updateAttributes { attributes in
                attributes["pipeline.exchange_count"] = Int64(context.exchanges.count)
                if let status = response?.cacheStatus { attributes["pipeline.cache"] = status.kind.rawValue }
            }
            let statusCode = (response ?? error?.response)?.statusCode
            SpanText.fail(call, ErrorType.ofCall(error, statusCode: statusCode, context.validationType), error)
        }
        call.end(at: timeline.now(context))
    }

    // MARK: Exchanges

    /// Starts the span of an exchange before its request is complete.
    func prepareExchange(_ request: PipelineRequest, _ context: PipelineContext) -> PreparedSpan {
        PreparedSpan(makeSpan(request, context), of: request, self)
    }

    /// Ends the span of an exchange that was prepared but never sent.
    func endUnsent(_ prepared: PreparedSpan, _ context: PipelineContext, _ error: (any Error)?) {
        guard let unsent = prepared.take(by: self) else { return }
        unsent.updateAttributes { $0["pipeline.sent"] = false }
        if let error = error as? PipelineError { SpanText.fail(unsent, ErrorType.of(error.code), error) }
        unsent.end(at: timeline.now(context))
    }

    func willSend(_ request: PipelineRequest, _ context: PipelineContext) {
        let prepared = PreparedSpan.current
        let span: any Span
        if let prepared, let taken = prepared.take(by: self) {
            span = taken
            if !prepared.describes(request) { describe(request, span, context) }
        } else {
            span = makeSpan(request, context)
        }
        let resendCount = context.exchanges.count
        if span.isRecording, resendCount > 0 || context.hop > 0 || context.attempt > 1 {
            span.updateAttributes { attributes in
                if resendCount > 0 { attributes["http.request.resend_count"] = Int64(resendCount) }
                if context.hop > 0 { attributes["pipeline.hop"] = Int64(context.hop) }
                if context.attempt > 1 { attributes["pipeline.attempt"] = Int64(context.attempt) }
            }
        }
        open.withLock { $0[context.exchangeID] = span }
    }

    func didReceive(_ result: Result<PipelineResponse, PipelineError>, _ context: PipelineContext) {
        guard let span = open.withLock({ $0.removeValue(forKey: context.exchangeID) }) else { return }
        if span.isRecording {
            if let exchange = context.exchange { span.updateAttributes { SpanText.add(exchange, to: &$0) } }
            switch result {
            case .success(let response): SpanText.fail(span, ErrorType.of(statusCode: response.statusCode))
            case .failure(let error): SpanText.fail(span, ErrorType.of(error.code), error)
            }
        }
        span.end(at: timeline.now(context))
    }

    private func makeSpan(_ request: PipelineRequest, _ context: PipelineContext) -> any Span {
        let span = tracer.startSpan(
            text.name(of: request, context.observedTemplate),
            context: call.context,
            ofKind: .client,
            at: timeline.now(context)
        )
        describe(request, span, context)
        return span
    }

    private func describe(_ request: PipelineRequest, _ span: any Span, _ context: PipelineContext) {
        guard span.isRecording else { return }
        let attributes = text.attributes(of: request, context.observedTemplate)
        span.updateAttributes { $0.merge(attributes) }
    }
}

/// The span of an exchange from when ``TracingPlugin/Propagation`` passes the request on until the transport gets it.
final class PreparedSpan: Sendable {
    /// The span of the code that runs inside `TracingPlugin.Propagation`.
    @TaskLocal static var current: PreparedSpan?

    let context: ServiceContext
    private let owner: CallTrace
    private let request: HTTPRequest
    private let span: Mutex<(any Span)?>

    init(_ span: any Span, of request: PipelineRequest, _ owner: CallTrace) {
        context = span.context
        self.request = request.head
        self.owner = owner
        self.span = Mutex(span)
    }

    /// Returns whether a request has the method and the URL that the span shows.
    func describes(_ other: PipelineRequest) -> Bool {
        let head = other.head
        return head.method == request.method && head.scheme == request.scheme && head.path == request.path
            && head.authority == request.authority
    }

    /// Returns the span to the first exchange of its call that asks for it, and `nil` to all others.
    func take(by trace: CallTrace) -> (any Span)? {
        guard trace === owner else { return nil }
        return span.withLock { span in
            defer { span = nil }
            return span
        }
    }
}

/// The state in which the parts of the plugin find the spans of the call.
struct CurrentTrace: PipelineContext.Key {
    static let defaultValue = CurrentTrace()

    /// Whether a plugin traces the call, even before it has made the spans.
    var isReserved = false
    /// The spans of the plugin that traces the call, or that last traced it.
    var trace: CallTrace?

    /// Reserves the call for one plugin.
    ///
    /// - Returns: `false` if another plugin already traces the call.
    mutating func reserve() -> Bool {
        guard !isReserved else { return false }
        isReserved = true
        return true
    }
}
#endif
