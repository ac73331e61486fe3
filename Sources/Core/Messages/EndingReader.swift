import Foundation
import Synchronization

extension PipelineBody {
    /// Returns the same body; reading it to its end finishes the call.
    func ending(_ call: CallState, _ response: PipelineResponse) -> PipelineBody {
        let end = StreamEnd(of: response, in: call)
        return read { EndingReader(self, end) }
    }
}

/// Reads a body whose end finishes a call, off the caller's actor, where no plugin runs.
private actor EndingReader: ChunkReader {
    private var upstream: PipelineBody.Chunks.AsyncIterator?
    private var byteCount = 0
    private var failure: (any Error)?
    private let end: StreamEnd

    init(_ body: PipelineBody, _ end: StreamEnd) {
        upstream = body.chunks().makeAsyncIterator()
        self.end = end
    }

    deinit {
        end.release(after: byteCount)
    }

    func next() async throws -> Data? {
        if let failure { throw failure }
        guard var iterator = upstream else { return nil }
        do {
            if let chunk = try await iterator.next() {
                byteCount += chunk.count
                upstream = iterator
                return chunk
            }
            upstream = nil
            end.reach(after: byteCount)
            return nil
        } catch {
            failure = error
            upstream = nil
            end.fail(error, after: byteCount)
            throw error
        }
    }
}

/// The end of a call whose response is streamed; only the first end counts.
///
/// If the body is released before it is read, the call ends as well.
private final class StreamEnd: Sendable {
    private struct Open {
        let call: CallState
        /// The response without its body.
        let response: PipelineResponse
        let announcedByteCount: Int?
    }

    private let open: Mutex<Open?>

    init(of response: PipelineResponse, in call: CallState) {
        var head = response
        head.body = .absent
        open = Mutex(Open(call: call, response: head, announcedByteCount: response.body.byteCount))
    }

    deinit {
        release(after: 0)
    }

    /// Finishes the call after the last piece of the body.
    func reach(after byteCount: Int) {
        finish(after: byteCount) { open in
            do {
                try PipelineBody.requireWhole(byteCount, of: open.announcedByteCount)
                return nil
            } catch {
                return PipelineError(thrown: error, otherwise: .truncated, "the body ended early")
            }
        }
    }

    /// Finishes the call with the error that reading the body threw.
    func fail(_ error: any Error, after byteCount: Int) {
        finish(after: byteCount) { _ in
            PipelineError(thrown: error, otherwise: .transport, "the body could not be read")
        }
    }

    /// Finishes the call if nothing can read its body any more.
    ///
    /// A background call is complete when its plugin has read what it needs.
    func release(after byteCount: Int) {
        finish(after: byteCount) { open in
            open.call.isOpen || open.announcedByteCount == byteCount
                ? nil : PipelineError(.cancelled, "the body was released before its end")
        }
    }

    private func finish(after byteCount: Int, _ makeError: (Open) -> PipelineError?) {
        guard let open = open.withLock({ $0.take() }) else { return }
        var error = makeError(open)
        if error?.response == nil { error?.response = open.response }
        if error?.request == nil { error?.request = open.response.request }
        error?.exchanges = open.call.exchanges
        open.call.finish(error?.described(by: open.call), open.response, byteCount: byteCount)
        open.call.leave()
    }
}
