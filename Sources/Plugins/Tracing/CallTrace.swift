#if Tracing
import HTTPTypes
import Pipeline
import Synchronization
import Tracing

/// The spans of one call.
final class CallTrace: Sendable {
    private struct Exchange: Hashable {
        let attempt: Int
        let hop: Int
    }

    private struct OpenSpan {
        let span: any Span
        /// Whether the request was handed to the transport; before that ``TracingPlugin/Propagation`` holds it.
        var isSent: Bool
    }

    let instrument: any Instrument
    let call: any Span
    private let tracer: any Tracer
    private let text: SpanText
    private let timeline: TraceTimeline
    private let open = Mutex<[Exchange: OpenSpan]>([:])

    init(
        _ request: PipelineRequest,
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
            SpanText.name(of: request, target: context.target),
            context: .current ?? .topLevel,
            ofKind: .internal,
            at: timeline.now(context),
            function: #function,
            file: #fileID,
            line: #line
        )
        call.attributes = text.attributes(of: request)
    }

    func end(_ context: PipelineContext, _ note: (any Span) -> Void) {
        call.updateAttributes { $0["pipeline.exchange_count"] = Int64(context.exchanges.count) }
        note(call)
        call.end(at: timeline.now(context))
    }

    // MARK: Exchanges

    /// Begins the span of the attempt's first exchange before its request is complete, and gives what is to be sent with it.
    func prepareExchange(_ request: PipelineRequest, _ context: PipelineContext) -> ServiceContext {
        let span = makeSpan(request, context)
        open.withLock { $0[Exchange(attempt: context.attempt, hop: 0)] = OpenSpan(span: span, isSent: false) }
        return span.context
    }

    /// Ends the span of an exchange that was prepared and did not come to pass.
    func endUnsent(_ context: PipelineContext, _ error: (any Error)?) {
        let exchange = Exchange(attempt: context.attempt, hop: 0)
        let unsent = open.withLock { open -> (any Span)? in
            guard let span = open[exchange], !span.isSent else { return nil }
            open[exchange] = nil
            return span.span
        }
        guard let unsent else { return }
        unsent.updateAttributes { $0["pipeline.sent"] = false }
        if let error = error as? PipelineError { SpanText.end(unsent, error) }
        unsent.end(at: timeline.now(context))
    }

    func willSend(_ request: PipelineRequest, _ context: PipelineContext) {
        let exchange = Exchange(attempt: context.attempt, hop: context.hop)
        let prepared = open.withLock { open in
            open[exchange]?.isSent = true
            return open[exchange]?.span
        }
        let span = prepared ?? makeSpan(request, context)
        span.updateAttributes { attributes in
            attributes.merge(text.attributes(of: request))
            let resendCount = context.exchanges.count
            if resendCount > 0 { attributes["http.request.resend_count"] = Int64(resendCount) }
            if context.hop > 0 { attributes["pipeline.hop"] = Int64(context.hop) }
            if context.attempt > 1 { attributes["pipeline.attempt"] = Int64(context.attempt) }
        }
        guard prepared == nil else { return }
        open.withLock { $0[exchange] = OpenSpan(span: span, isSent: true) }
    }

    func didReceive(_ result: Result<PipelineResponse, PipelineError>, _ context: PipelineContext) {
        let exchange = Exchange(attempt: context.attempt, hop: context.hop)
        guard let span = open.withLock({ $0.removeValue(forKey: exchange) })?.span else { return }
        switch result {
        case .success(let response):
            SpanText.end(span, statusCode: response.statusCode, isFailure: response.statusCode >= 400)
        case .failure(let error):
            SpanText.end(span, error)
        }
        span.end(at: timeline.now(context))
    }

    private func makeSpan(_ request: PipelineRequest, _ context: PipelineContext) -> any Span {
        tracer.startSpan(
            SpanText.name(of: request),
            context: call.context,
            ofKind: .client,
            at: timeline.now(context),
            function: #function,
            file: #fileID,
            line: #line
        )
    }
}

/// How the parts of the plugin find the spans of the call.
struct CurrentTrace: PipelineContextKey {
    static let defaultValue = CurrentTrace()

    /// Whether a plugin traces the call, also before it has made the spans.
    var isReserved = false
    /// The spans of the plugin that traces the call, or traced it last.
    var trace: CallTrace?

    /// Reserves the call for one plugin.
    ///
    /// - Returns: `false` if another plugin traces it.
    mutating func reserve() -> Bool {
        guard !isReserved else { return false }
        isReserved = true
        return true
    }
}
#endif
