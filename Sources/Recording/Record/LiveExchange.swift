import Foundation
import HTTPTypes
import PipelineCore
import Synchronization

/// One exchange while it is recorded.
///
/// It keeps the bodies that pass through, and is handed over when the exchange has ended.
///
/// The exchange also ends when its last reader is released.
final class LiveExchange: Sendable {
    private struct State {
        var requestBody = Data()
        var response: RecordedExchange.Response?
        var headDelay = Duration.zero
        var isTooLarge = false
        var hasEnded = false
    }

    private let request: PipelineRequest
    private let context: PipelineContext
    private let phases: @Sendable () -> PipelineExchange.Phases
    private let start: PipelineClock.Instant
    private let date: Date
    private let forwardReason: String?
    private let byteLimit: Int
    private let state = Mutex(State())
    private let end: @Sendable (Outcome) -> Void

    /// The way in which an exchange ended.
    enum Outcome: Sendable {
        case recorded(RecordedExchange, PipelineRequest)
        case tooLarge
        case abandoned
    }

    /// - Parameters:
    ///   - request: the request, as the caller sends it.
    ///   - context: the context of the exchange.
    ///   - phases: returns the moments that the transport has reported.
    ///   - byteLimit: the largest body that is kept, in bytes.
    ///   - end: called once.
    init(
        _ request: PipelineRequest,
        _ context: PipelineContext,
        phases: @escaping @Sendable () -> PipelineExchange.Phases,
        byteLimit: Int,
        end: @escaping @Sendable (Outcome) -> Void
    ) {
        self.request = request
        self.context = context
        forwardReason = context.cacheStatus?.reason
        self.phases = phases
        self.byteLimit = byteLimit
        self.end = end
        start = context.clock.now
        date = context.clock.date
    }

    deinit {
        finish(throwing: Task.isCancelled ? CancellationError() : Self.stopped)
    }

    private static let stopped = PipelineError(.truncated, "the reader has read no further when this was recorded")

    // MARK: Request

    /// Returns the request to send, whose body is kept as it is read.
    func makeRequest() -> PipelineRequest {
        var request = request
        let body = request.body
        if body.isAbsent { return request }
        if let bytes = body.bytes {
            keepRequest(bytes)
            return request
        }
        request.body = teed(
            body,
            makeSink: { [self] in
                restartRequest()
                return { [self] chunk in if let chunk { keepRequest(chunk) } }
            }
        )
        return request
    }

    private func teed(
        _ body: PipelineBody,
        makeSink: @escaping @Sendable () -> TeedChunks.Sink,
        onFailure: (@Sendable (any Error) -> Void)? = nil
    ) -> PipelineBody {
        let chunks = TeedChunks(body: body, makeSink: makeSink, onFailure: onFailure)
        return body.isReplayable
            ? .stream(byteCount: body.byteCount, replaying: { chunks }) : .stream(chunks, byteCount: body.byteCount)
    }

    private func restartRequest() { state.withLock { $0.requestBody = Data() } }

    private func keepRequest(_ chunk: Data) {
        state.withLock { state in
            guard !state.hasEnded, !state.isTooLarge else { return }
            state.requestBody += chunk
            state.isTooLarge = state.requestBody.count > byteLimit
        }
    }

    // MARK: Response

    /// Returns the response to pass on, whose body is kept as it is read.
    func makeResponse(_ response: PipelineResponse) -> PipelineResponse {
        state.withLock { state in
            state.headDelay = start.duration(to: context.clock.now)
            state.response = RecordedExchange.Response(response, body: Data())
        }
        var response = response
        // The request that was sent holds this exchange.
        response.request = request
        if let bytes = response.body.bytes {
            keepResponse(bytes)
            finish(throwing: nil)
            return response
        }
        let body = response.body
        response.body = teed(
            body,
            makeSink: { [self] in
                restartResponse()
                return { [self] chunk in if let chunk { keepResponse(chunk) } else { finishReading(body.byteCount) } }
            },
            onFailure: { [self] error in finish(throwing: error) }
        )
        return response
    }

    private func restartResponse() {
        state.withLock { state in
            guard !state.hasEnded else { return }
            state.response?.body = Data()
            state.response?.chunks = []
        }
    }

    private func keepResponse(_ chunk: Data) {
        let delay = start.duration(to: context.clock.now)
        state.withLock { state in
            guard !state.hasEnded, !state.isTooLarge, !chunk.isEmpty, var response = state.response.take() else {
                return
            }
            response.body += chunk
            state.isTooLarge = response.body.count > byteLimit
            if response.chunks.count < Self.maximumChunkCount {
                response.chunks.append(.init(byteCount: chunk.count, delay: delay - state.headDelay))
            } else {
                response.chunks[response.chunks.count - 1].byteCount += chunk.count
            }
            state.response = response
        }
    }

    /// Ends the exchange.
    ///
    /// A body that was cut off by a cancellation or by the network must not be recorded as complete.
    private func finishReading(_ announced: Int?) {
        let count = state.withLock { $0.response?.body.count ?? 0 }
        if Task.isCancelled {
            finish(throwing: CancellationError())
        } else if let announced, announced > count, !state.withLock({ $0.isTooLarge }) {
            finish(throwing: PipelineError(.truncated, "\(count) of \(announced) bytes arrived"))
        } else {
            finish(throwing: nil)
        }
    }

    // MARK: End

    /// Hands the exchange over; later calls do nothing.
    func finish(throwing error: (any Error)?) {
        let duration = start.duration(to: context.clock.now)
        let ended = state.withLock { state -> State? in
            guard !state.hasEnded else { return nil }
            state.hasEnded = true
            return state
        }
        guard let ended else { return }
        if let error, error is CancellationError || Task.isCancelled || (error as? PipelineError)?.code == .cancelled {
            return end(.abandoned)
        }
        if ended.isTooLarge { return end(.tooLarge) }
        let phases = phases()
        let headDelay = ended.response == nil ? duration : ended.headDelay
        let exchange = RecordedExchange(
            request: RecordedExchange.Request(request, body: request.body.isAbsent ? nil : ended.requestBody),
            response: ended.response,
            failure: error.map(Self.failure),
            start: date,
            headDelay: headDelay,
            duration: duration,
            httpVersion: phases.connection?.protocolVersion.map { "HTTP/" + $0 } ?? "",
            forwardReason: forwardReason,
            timings: RecordedTimings(phases, within: headDelay),
            connection: phases.connection,
            call: JSONNode(context)
        )
        end(.recorded(exchange, request))
    }

    private static func failure(_ error: any Error) -> RecordedExchange.Failure {
        guard let error = error as? PipelineError else {
            return .init(code: PipelineError.Code.transport.rawValue, text: "the transport threw \(type(of: error))")
        }
        return .init(error)
    }

    private static let maximumChunkCount = 10_000
}

/// The chunks of a body, each passed to a sink before it is returned.
struct TeedChunks: AsyncSequence, Sendable {
    typealias Element = Data
    /// Receives each chunk, and `nil` at the end.
    typealias Sink = @Sendable (Data?) -> Void

    let body: PipelineBody
    let makeSink: @Sendable () -> Sink
    var onFailure: (@Sendable (any Error) -> Void)?

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(upstream: body.chunks().makeAsyncIterator(), sink: makeSink(), onFailure: onFailure)
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        /// `nil` after the end or a failure, which closes the exchange.
        private var upstream: PipelineBody.Chunks.AsyncIterator?
        private let sink: Sink
        private let onFailure: (@Sendable (any Error) -> Void)?

        init(
            upstream: PipelineBody.Chunks.AsyncIterator,
            sink: @escaping Sink,
            onFailure: (@Sendable (any Error) -> Void)?
        ) {
            self.upstream = upstream
            self.sink = sink
            self.onFailure = onFailure
        }

        mutating func next() async throws -> Data? {
            guard upstream != nil else { return nil }
            do {
                let chunk = try await upstream?.next()
                if chunk == nil { upstream = nil }
                sink(chunk)
                return chunk
            } catch {
                upstream = nil
                onFailure?(error)
                throw error
            }
        }
    }
}
