import Foundation
import Synchronization

extension PipelineBody {
    /// Returns the same body; reading it to its end finishes the call.
    func ending(_ call: CallState, _ response: PipelineResponse) -> PipelineBody {
        observed(by: StreamEnd(of: response, in: call))
    }
}

/// The end of a call whose response is streamed; only the first end counts.
///
/// If the body is released before it is read, the call ends as well.
private final class StreamEnd: BodyObserver {
    private struct Open {
        let call: CallState
        /// The response without its body.
        let response: PipelineResponse
        let announcedByteCount: Int?
        var byteCount = 0
    }

    private let open: Mutex<Open?>

    init(of response: PipelineResponse, in call: CallState) {
        var head = response
        head.body = .absent
        open = Mutex(Open(call: call, response: head, announcedByteCount: response.body.byteCount))
    }

    deinit { release() }

    func note(_ chunk: Data) {
        open.withLock { $0?.byteCount += chunk.count }
    }

    /// Finishes the call after the last piece of the body; its reader gets the error of a body that ended early, too.
    func end() throws {
        let failure = finish { open in
            do {
                try PipelineBody.requireWhole(open.byteCount, of: open.announcedByteCount)
                return nil
            } catch {
                return PipelineError(thrown: error, otherwise: .truncated, "the body ended early")
            }
        }
        if let failure { throw failure.asThrown }
    }

    /// Finishes the call with the error that reading the body threw.
    func fail(_ error: any Error) {
        finish { _ in PipelineError(thrown: error, otherwise: .transport, "the body could not be read") }
    }

    /// Finishes the call if nothing can read its body any more.
    ///
    /// A background call is complete when its plugin has read what it needs.
    func release() {
        finish { open in
            open.call.isOpen || open.announcedByteCount == open.byteCount
                ? nil : PipelineError(.cancelled, "the body was released before its end")
        }
    }

    @discardableResult
    private func finish(_ makeError: (Open) -> PipelineError?) -> PipelineError? {
        guard let open = open.withLock({ $0.take() }) else { return nil }
        var error = makeError(open)
        if error?.response == nil { error?.response = open.response }
        if error?.request == nil { error?.request = open.response.request }
        error?.exchanges = open.call.exchanges
        error = error?.described(by: open.call)
        open.call.finish(error, open.response, byteCount: open.byteCount)
        open.call.leave()
        return error
    }
}
