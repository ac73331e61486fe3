import Foundation

/// Reads a body each piece of which has to come in time, in a task beside the one that counts the time.
actor TimedReader: ChunkReader {
    /// How long one may wait for a piece.
    struct Limit: Sendable {
        let clock: PipelineClock
        /// Until when, asked when the waiting begins.
        let makeDeadline: @Sendable () -> PipelineClock.Instant
        let makeError: @Sendable () -> PipelineError
    }

    private var upstream: PipelineBody.Chunks.AsyncIterator?
    private let limit: Limit
    private var failure: (any Error)?

    init(_ body: PipelineBody, _ limit: Limit) {
        upstream = body.chunks().makeAsyncIterator()
        self.limit = limit
    }

    func next() async throws -> Data? {
        if let failure { throw failure }
        do {
            return try await limit.clock.run(until: limit.makeDeadline(), throwing: limit.makeError()) {
                try await self.read()
            }
        } catch {
            // The exchange is closed even if the reader is kept, and what came of it never looks like a whole body.
            failure = error
            upstream = nil
            throw error
        }
    }

    private func read() async throws -> Data? {
        guard var iterator = upstream else { return nil }
        let chunk = try await iterator.next()
        if chunk == nil { try Task.checkCancellation() }
        upstream = iterator
        return chunk
    }
}
