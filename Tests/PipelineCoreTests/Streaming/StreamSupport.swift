import Foundation
import Pipeline
import PipelineTesting
import Synchronization

@testable import PipelineCore

/// The result of decoding bytes: the values, and the failure that follows them.
struct Decoded<Element: Hashable & Sendable>: Hashable {
    var elements: [Element] = []
    var failure: String?

    init<Decoder: StreamDecoder>(_ decoder: Decoder, _ pieces: [Data]) where Decoder.Element == Element {
        var decoder = decoder
        do {
            for piece in pieces {
                decoder.append(piece)
                while let element = try decoder.next() { elements.append(element) }
            }
            decoder.end()
            while let element = try decoder.next() { elements.append(element) }
        } catch let error as PipelineError {
            failure = "\(error.code) \(error.reason)"
        } catch {
            failure = "another type: \(error)"
        }
    }
}

extension Data {
    /// The same bytes in pieces of one byte.
    var singly: [Data] { map { Data([$0]) } }

    /// The same bytes, cut anywhere; some pieces are empty.
    func cut(using random: inout PipelineRandom) -> [Data] {
        var pieces: [Data] = []
        var rest = self
        while !rest.isEmpty {
            let piece = rest.prefix(Int.random(in: 0...6, using: &random))
            rest = rest.dropFirst(piece.count)
            pieces.append(piece)
        }
        return pieces
    }
}

/// A body of fixed pieces that records how many were read and whether its reader was released.
final class WatchedFeed: AsyncSequence, Sendable {
    typealias Element = Data

    private struct State {
        var pieces: [Data]
        var readCount = 0
        var isDropped = false
    }

    fileprivate final class Lease: Sendable {
        let feed: WatchedFeed

        init(_ feed: WatchedFeed) { self.feed = feed }

        deinit { feed.state.withLock { $0.isDropped = true } }
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate let lease: Lease

        mutating func next() async throws -> Data? {
            let feed = lease.feed
            if let piece = feed.take() { return piece }
            if let failure = feed.failure { throw failure }
            guard feed.hangs else { return nil }
            let never = AsyncStream<Never> { _ in }
            for await _ in never {}
            throw CancellationError()
        }
    }

    private let state: Mutex<State>
    private let failure: PipelineError?
    private let hangs: Bool

    /// - Parameters:
    ///   - texts: the pieces.
    ///   - failure: the error thrown after them.
    ///   - hangs: whether it waits after them until its reader is cancelled.
    init(_ texts: [String], failure: PipelineError? = nil, hangs: Bool = false) {
        state = Mutex(State(pieces: texts.map { Data($0.utf8) }))
        self.failure = failure
        self.hangs = hangs
    }

    /// How many pieces have been read.
    var readCount: Int { state.withLock { $0.readCount } }

    /// Whether its reader was released.
    var isDropped: Bool { state.withLock { $0.isDropped } }

    func makeAsyncIterator() -> AsyncIterator { AsyncIterator(lease: Lease(self)) }

    private func take() -> Data? {
        state.withLock { state in
            guard !state.pieces.isEmpty else { return nil }
            state.readCount += 1
            return state.pieces.removeFirst()
        }
    }
}
