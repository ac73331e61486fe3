import Foundation

/// A transport that records each exchange, with its phases, in the timeline of its call.
struct TimedTransport: Transport {
    let transport: any Transport
    var name: String { transport.name }
    var capabilities: Set<PluginCapability> { transport.capabilities }
    var decodesContent: Bool { transport.decodesContent }
    var unsupportedSettings: [UnsupportedSetting] { transport.unsupportedSettings }

    func enforcesIdleTimeout(_ timeout: Duration) -> Bool { transport.enforcesIdleTimeout(timeout) }

    func identity(for request: PipelineRequest) -> String? { transport.identity(for: request) }

    func send(_ request: PipelineRequest, context: PipelineContext) async throws -> PipelineResponse {
        guard let recorder = context.call.timeline else { return try await transport.send(request, context: context) }
        if recorder.settings.isAnalysis { return try await measure(request, recorder, context) }
        let (context, log) = context.observed()
        let exchange = TimedExchange(request, recorder, log, context)
        do {
            var response = try await transport.send(request, context: context)
            if response.body.isRead { context.report(.phases { $0.responseBegan = context.now }) }
            let outcome = "\(response.statusCode)"
            if response.body.isRead {
                response.body = response.body.observed(by: TimedBody(exchange, outcome))
            } else {
                exchange.end(outcome)
            }
            return response
        } catch {
            exchange.end(TimelineRecorder.outcome(of: error))
            throw error
        }
    }

    /// Sends a request in an analysis, in which each piece of a body is a span of its own: what plugins do with the
    /// pieces is not the transport's.
    private func measure(
        _ request: PipelineRequest,
        _ recorder: TimelineRecorder,
        _ context: PipelineContext
    ) async throws -> PipelineResponse {
        let span = recorder.begin(.wire, .request(request), context)
        let context = context.inside(span)
        if context.parentID == nil { recorder.settings.sent = (request, context) }
        recorder.enter(span)
        let result: Result<PipelineResponse, any Error>
        do {
            result = .success(try await transport.send(request, context: context))
        } catch {
            result = .failure(error)
        }
        recorder.end(span)
        var response = try result.get()
        if response.body.isRead {
            let body = response.body
            response.body = body.read { MeasuredBodyReader(body, recorder, context) }
        }
        return response
    }
}

extension PipelineBody {
    /// Whether the body is a stream that still has to be read.
    fileprivate var isRead: Bool { inMemoryByteCount == nil && fileURL == nil }
}

/// An exchange while it is recorded; it ends with its body, at the latest when nothing can read that any more.
private final class TimedExchange: Sendable {
    private let recorder: TimelineRecorder
    private let log: PhaseLog
    private let context: PipelineContext
    private let span: Int?
    private let start: PipelineClock.Instant

    init(_ request: PipelineRequest, _ recorder: TimelineRecorder, _ log: PhaseLog, _ context: PipelineContext) {
        self.recorder = recorder
        self.log = log
        self.context = context
        start = context.now
        span = recorder.begin(.wire, .request(request), context)
    }

    deinit { release() }

    /// Ends the exchange, because nothing can read its body any more.
    func release() { end("released") }

    func end(_ outcome: String) {
        guard let span, recorder.end(span, outcome) else { return }
        let now = context.now
        log.phases.forEachInterval(from: start, to: now) { name, start, end in
            recorder.add(.phase, .text(name), in: span, context, from: start, to: end)
        }
    }
}

/// Ends a recorded exchange with its body.
private final class TimedBody: BodyObserver {
    private let exchange: TimedExchange
    private let outcome: String

    init(_ exchange: TimedExchange, _ outcome: String) { (self.exchange, self.outcome) = (exchange, outcome) }

    func note(_ chunk: Data) {}
    func end() { exchange.end(outcome) }
    func fail(_ error: any Error) { exchange.end(TimelineRecorder.outcome(of: error)) }
    func release() { exchange.release() }
}

/// Reads the body of an exchange in an analysis.
private actor MeasuredBodyReader: ChunkReader {
    private var upstream: PipelineBody.Chunks.AsyncIterator
    private let recorder: TimelineRecorder
    private let context: PipelineContext

    init(_ body: PipelineBody, _ recorder: TimelineRecorder, _ context: PipelineContext) {
        upstream = body.chunks().makeAsyncIterator()
        self.recorder = recorder
        self.context = context
    }

    func next() async throws -> Data? {
        let span = recorder.begin(.body, .text("body"), context)
        defer { recorder.end(span) }
        var iterator = upstream
        defer { upstream = iterator }
        return try await iterator.next()
    }
}
