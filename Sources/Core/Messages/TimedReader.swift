import Foundation

/// Reads a body with a limit on the wait for each piece, in a task next to the one that measures the time.
actor TimedReader: ChunkReader {
    /// The limit on the wait for a piece.
    struct Limit: Sendable {
        let clock: PipelineClock
        /// Returns the deadline; called when the wait begins.
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
            // Closes the exchange even if the reader is kept; later reads fail as well, so the body never looks
            // complete.
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
