import Foundation

/// Reads the pieces of a body off its caller's actor.
protocol ChunkReader: Actor {
    func next() async throws -> Data?
}

/// Follows the reading of a body.
protocol BodyObserver: AnyObject, Sendable {
    /// Takes note of a piece that has been read.
    func note(_ chunk: Data)
    /// Takes note of the end; an error that it throws is the reader's, too.
    func end() throws
    func fail(_ error: any Error)
    /// Takes note that nothing can read the body any more, perhaps after its end.
    func release()
}

/// Reads a body for an observer; later reads after a failure fail as well.
private actor ObservedReader<Observer: BodyObserver>: ChunkReader {
    private var upstream: PipelineBody.Chunks.AsyncIterator?
    private var failure: (any Error)?
    private let observer: Observer

    init(_ body: PipelineBody, _ observer: Observer) {
        upstream = body.chunks().makeAsyncIterator()
        self.observer = observer
    }

    deinit { observer.release() }

    func next() async throws -> Data? {
        if let failure { throw failure }
        guard var iterator = upstream else { return nil }
        do {
            if let chunk = try await iterator.next() {
                observer.note(chunk)
                upstream = iterator
                return chunk
            }
            upstream = nil
            try observer.end()
            return nil
        } catch {
            failure = error
            upstream = nil
            observer.fail(error)
            throw error
        }
    }
}

extension PipelineBody {
    /// Returns the same body; an observer follows how it is read.
    func observed(by observer: some BodyObserver) -> PipelineBody {
        read { ObservedReader(self, observer) }
    }
}
