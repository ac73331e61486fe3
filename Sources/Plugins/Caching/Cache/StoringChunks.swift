import Foundation
import PipelineCore

/// The bytes of a body, written to a store while they are passed on.
struct StoringChunks: AsyncSequence, Sendable {
    typealias Element = Data

    let body: PipelineBody
    let sink: CacheSink
    /// Whether the body ends when nothing more of it is written, because no caller needs it.
    let endsWithSink: Bool

    func makeAsyncIterator() -> AsyncIterator {
        AsyncIterator(iterator: body.chunks().makeAsyncIterator(), sink: sink, endsWithSink: endsWithSink)
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        var iterator: PipelineBody.Chunks.AsyncIterator
        let sink: CacheSink
        let endsWithSink: Bool
        var byteCount = 0
        var isEnded = false

        mutating func next() async throws -> Data? {
            guard !isEnded else { return nil }
            do {
                guard let chunk = try await iterator.next() else {
                    isEnded = true
                    if Task.isCancelled { await sink.interrupt(byteCount) } else { await sink.finish(byteCount) }
                    return nil
                }
                byteCount += chunk.count
                await sink.append(chunk)
                if endsWithSink { isEnded = await !sink.isWriting }
                return chunk
            } catch {
                isEnded = true
                await sink.interrupt(byteCount)
                throw error
            }
        }
    }
}

/// Writes one response to a store, as long as the store keeps up.
actor CacheSink {
    /// What a body must have to be stored.
    struct Expectation: Sendable {
        /// The announced length; `nil` if there is none.
        let byteCount: Int?
        /// The length of the whole representation; `nil` if it is unknown.
        let totalByteCount: Int?
        /// Whether the body is a part of the representation.
        let isPart: Bool
        /// Whether the beginning of the body is worth keeping.
        let isKeptIfInterrupted: Bool
    }

    private var writer: (any CacheBodyWriter)?
    private let exchange: CachedExchange
    private let expectation: Expectation
    private let entry: CacheEntry
    /// What the store had when the call began.
    private let lookup: CachedExchange.Lookup
    private let start: PipelineClock.Instant
    /// How long the store has taken so far.
    private var storeTime = Duration.zero
    private var byteCount = 0

    init(
        _ writer: any CacheBodyWriter,
        _ exchange: CachedExchange,
        _ entry: CacheEntry,
        _ lookup: CachedExchange.Lookup,
        _ expectation: Expectation
    ) {
        self.writer = writer
        self.exchange = exchange
        self.entry = entry
        self.lookup = lookup
        self.expectation = expectation
        start = exchange.context.clock.now
    }

    private nonisolated var plugin: CachePlugin { exchange.plugin }
    private nonisolated var context: PipelineContext { exchange.context }

    /// Whether the response may still be stored.
    var isWriting: Bool { writer != nil }

    /// Appends bytes; after a failure, nothing more is written.
    func append(_ bytes: Data) async {
        guard let writer, !bytes.isEmpty else { return }
        let begin = context.clock.now
        // A cancelled call waits only if it then keeps what it has received.
        let leaves = !expectation.isKeptIfInterrupted
        let isWritten = await plugin.limited(context, leaves ? .append : .keep) {
            try await writer.append(bytes)
            return true
        }
        let end = context.clock.now
        storeTime += begin.duration(to: end)
        byteCount += bytes.count
        // A store that is slower than the origin and than 8 MiB/s would make the call time out.
        let originTime = start.duration(to: end) - storeTime
        let allowance = StoreOperation.pieceLimit + .seconds(1) * Double(byteCount >> 10) / 8_192
        let isSlow = storeTime > allowance + originTime
        if isWritten == nil || isSlow { self.writer = nil }
    }

    /// Stores the response, unless its body is shorter or longer than announced.
    func finish(_ byteCount: Int) async {
        guard let writer else { return }
        self.writer = nil
        guard expectation.byteCount == nil || expectation.byteCount == byteCount, exchange.isCurrent else {
            return await discard(writer)
        }
        let total = expectation.isPart ? expectation.totalByteCount : byteCount
        await publish(writer, total)
    }

    /// Makes the response visible, unless its resource changes at the same time.
    private nonisolated func publish(_ writer: any CacheBodyWriter, _ totalByteCount: Int?) async {
        let isLate = start.duration(to: context.clock.now) > .milliseconds(100)
        _ = await plugin.limited(context, .finish) { [entry, lookup, exchange, plugin] in
            // While a long body was read, another call may have stored a newer response.
            if isLate,
                try await plugin.store.entries(for: entry.key).contains(where: { other in
                    entry.isOlder(than: other) && !lookup.entries.contains(where: other.isSame(as:))
                })
            {
                await writer.discard()
                return true
            }
            return try await exchange.publish(writer, totalByteCount, lookup)
        }
    }

    /// Stores the beginning of a response that was interrupted, if the rest can be obtained later.
    func interrupt(_ byteCount: Int) async {
        guard let writer else { return }
        self.writer = nil
        let isKept =
            expectation.isKeptIfInterrupted && byteCount > 0 && byteCount < (expectation.byteCount ?? 0)
            && !lookup.entries.contains(where: \.isComplete) && exchange.isCurrent
        if isKept { await publish(writer, expectation.totalByteCount) } else { await discard(writer) }
    }

    private nonisolated func discard(_ writer: any CacheBodyWriter) async {
        _ = await plugin.limited(context, .finish) { await writer.discard() }
    }
}

extension CacheEntry {
    /// Whether another entry of the same variant is newer than this one.
    fileprivate func isOlder(than other: CacheEntry) -> Bool {
        other.variant == variant && other.responseDate > responseDate
    }

    /// Whether another entry is this one, and has not been updated.
    fileprivate func isSame(as other: CacheEntry) -> Bool { other.id == id && other.responseDate == responseDate }
}
