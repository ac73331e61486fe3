import Foundation
import HTTPTypes
import PipelineCore

/// A recorded exchange as the response of a transport.
struct ReplayedResponse {
    private var exchange: RecordedExchange
    private let pace: ReplayPace
    private let byteLimit: Int

    init(_ exchange: RecordedExchange, _ pace: ReplayPace, byteLimit: Int) {
        self.exchange = exchange
        self.pace = pace
        self.byteLimit = byteLimit
    }

    /// Returns the response after the recorded time.
    mutating func response(to request: PipelineRequest, _ context: PipelineContext) async throws -> PipelineResponse {
        let start = context.clock.now
        let damage = decode()
        guard let recorded = exchange.response else {
            try await sleep(pace.duration(exchange.duration), context.clock)
            throw failure ?? PipelineError(.transport, "the recorded exchange has no response")
        }
        try await sleep(pace.duration(exchange.headDelay), context.clock)
        let failure = damage ?? failure
        var head = HTTPResponse(status: .init(code: recorded.status, reasonPhrase: recorded.reasonPhrase))
        head.headerFields = fields(of: recorded)
        let delay = start.duration(to: context.clock.now)
        let end = pace.duration(exchange.duration) - delay
        let body = body(recorded, end: end, failure, context)
        return PipelineResponse(request: request, head: head, body: body)
    }

    private var failure: PipelineError? {
        exchange.failure.map { PipelineError(PipelineError.Code(rawValue: $0.code), "recorded: \($0.text)") }
    }

    private func sleep(_ duration: Duration, _ clock: PipelineClock) async throws {
        if duration > .zero { try await clock.sleep(for: duration) } else { try Task.checkCancellation() }
    }

    /// Decodes the body; returns the failure with which a damaged one ends, as it does without a recording.
    private mutating func decode() -> PipelineError? {
        do {
            try CodedBody.decode(&exchange, upTo: byteLimit)
            return nil
        } catch {
            guard exchange.failure == nil, let damage = error as? PipelineError, case .contentCoding = damage.code
            else { return nil }
            exchange.response?.isCoded = false
            exchange.response?.body = Data()
            exchange.response?.chunks = []
            return damage
        }
    }

    /// Returns the recorded fields, without those that no longer apply to the body.
    private func fields(of recorded: RecordedExchange.Response) -> HTTPFields {
        var fields = recorded.headers
        guard CodedBody.isWhole(status: recorded.status, method: exchange.request.method) || !recorded.body.isEmpty
        else {
            return fields
        }
        fields[.transferEncoding] = nil
        if !recorded.isCoded, CodedBody.isNamed(in: fields) {
            fields[.contentEncoding] = nil
            fields[.contentLength] = nil
        } else if exchange.failure == nil, fields.contains(.contentLength) {
            let count = String(recorded.body.count)
            if fields[.contentLength] != count { fields[.contentLength] = count }
        }
        return fields
    }

    private func body(
        _ recorded: RecordedExchange.Response,
        end: Duration,
        _ failure: PipelineError?,
        _ context: PipelineContext
    ) -> PipelineBody {
        if failure == nil, pace.factor == 0, !context.wantsStream { return .bytes(recorded.body) }
        let chunks = ReplayedChunks(
            body: recorded.body,
            chunks: recorded.chunks.map { .init(byteCount: $0.byteCount, delay: pace.duration($0.delay)) },
            end: end,
            failure: failure,
            clock: context.clock
        )
        let length = exchange.failure == nil ? nil : recorded.headers[.contentLength].flatMap { Int($0) }
        let announced = failure == nil ? recorded.body.count : length
        return .stream(byteCount: announced, replaying: { chunks })
    }
}

/// The chunks of a recorded body at their recorded times, followed by its failure.
struct ReplayedChunks: AsyncSequence, Sendable {
    typealias Element = Data

    let body: Data
    let chunks: [RecordedExchange.Chunk]
    /// The time from the header fields to the end of the body.
    let end: Duration
    let failure: PipelineError?
    let clock: PipelineClock

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(source: self, start: clock.now) }

    struct AsyncIterator: AsyncIteratorProtocol {
        let source: ReplayedChunks
        let start: PipelineClock.Instant
        private var index = 0
        private var offset = 0

        init(source: ReplayedChunks, start: PipelineClock.Instant) {
            self.source = source
            self.start = start
        }

        mutating func next() async throws -> Data? {
            try Task.checkCancellation()
            guard offset < source.body.count else { return try await finish() }
            var count = Swift.min(Self.pieceByteCount, source.body.count - offset)
            if !source.chunks.isEmpty {
                while index < source.chunks.count, source.chunks[index].byteCount == 0 { index += 1 }
                guard index < source.chunks.count else { return try await finish() }
                count = Swift.min(source.chunks[index].byteCount, source.body.count - offset)
                try await sleep(until: source.chunks[index].delay)
                index += 1
            }
            defer { offset += count }
            let begin = source.body.startIndex + offset
            return Data(source.body[begin..<begin + count])
        }

        private func finish() async throws -> Data? {
            try await sleep(until: source.end)
            if let failure = source.failure { throw failure }
            return nil
        }

        private func sleep(until delay: Duration) async throws {
            let deadline = start.advanced(by: delay)
            if delay > .zero, source.clock.now < deadline { try await source.clock.sleep(until: deadline) }
        }

        private static let pieceByteCount = 64 << 10
    }
}
