import Foundation

/// A source that returns values in batches.
protocol BatchSource: SendableMetatype {
    associatedtype Element: Sendable

    /// Returns the next values, at least one; `nil` after the last.
    mutating func read() async throws -> [Element]?
}

/// A body that is decoded as its pieces arrive.
struct StreamBatches<Decoder: StreamDecoder>: BatchSource {
    /// The most values that are decoded ahead of the reader.
    private static var batchCount: Int { 128 }

    private(set) var decoder: Decoder
    /// The number of bytes that have arrived.
    private(set) var byteCount = 0
    private let announcedByteCount: Int?
    private var upstream: PipelineBody.Chunks.AsyncIterator?
    private var failure: (any Error)?

    init(_ body: PipelineBody, _ decoder: Decoder) {
        self.decoder = decoder
        announcedByteCount = body.announcedByteCount
        upstream = body.chunks().makeAsyncIterator()
    }

    mutating func read() async throws -> [Decoder.Element]? {
        while true {
            let batch = takeBatch()
            if !batch.isEmpty { return batch }
            if let failure { throw failure }
            guard upstream != nil else { return nil }
            if let chunk = try await upstream?.next() {
                byteCount += chunk.count
                decoder.append(chunk)
            } else {
                upstream = nil
                try PipelineBody.requireWhole(byteCount, of: announcedByteCount)
                decoder.end()
            }
        }
    }

    /// Returns all values that the pieces so far contain.
    mutating func takeArrived() -> [Decoder.Element] {
        var arrived: [Decoder.Element] = []
        while true {
            let batch = takeBatch()
            if batch.isEmpty { return arrived }
            arrived += batch
        }
    }

    /// Returns what can be decoded from the pieces so far; a failure is thrown after the values before it are read.
    private mutating func takeBatch() -> [Decoder.Element] {
        var batch: [Decoder.Element] = []
        do {
            while batch.count < Self.batchCount, let element = try decoder.next() { batch.append(element) }
        } catch {
            failure = error
            upstream = nil
        }
        return batch
    }
}

/// Reads values off the caller's actor.
///
/// It drops the source at its end and after a failure, which closes the exchange.
actor BatchReader<Source: BatchSource> {
    private let makeSource: @Sendable () throws -> Source
    private var source: Source?
    private var isStarted = false

    init(_ makeSource: @escaping @Sendable () throws -> Source) {
        self.makeSource = makeSource
    }

    func read() async throws -> [Source.Element]? {
        if !isStarted {
            isStarted = true
            source = try makeSource()
        }
        guard var source = source.take() else { return nil }
        guard let batch = try await source.read() else { return nil }
        self.source = source
        return batch
    }
}
