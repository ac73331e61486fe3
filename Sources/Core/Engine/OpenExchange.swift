import Foundation
import Synchronization

/// An exchange whose body has not ended.
///
/// Observers see it when the body ends. They see the bytes that the transport delivered if all of them were read and
/// the call is buffered.
final class OpenExchange: BodyObserver {
    private struct State {
        /// The body as the transport delivered it, until the exchange ends.
        var source: PipelineBody?
        var read = Data()
        var byteCount = 0
        var isTooLarge = false
        var isDiscarding = false
    }

    private let wire: Wire
    private let context: PipelineContext
    private let response: PipelineResponse
    private let state: Mutex<State>

    /// - Parameters:
    ///   - wire: the wire whose observers see the end.
    ///   - context: the context of the hop.
    ///   - response: the response, with the body as the transport delivered it.
    init(_ wire: Wire, _ context: PipelineContext, _ response: PipelineResponse) {
        self.wire = wire
        self.context = context
        var head = response
        head.body = .absent
        self.response = head
        state = Mutex(State(source: response.body))
    }

    /// Whether observers see no body.
    private var hidesBody: Bool { context.isDownload || context.call.isOpen }

    deinit { release() }

    /// The body for exchange plugins and the caller.
    var body: PipelineBody {
        state.withLock { $0.source }?.observed(by: self) ?? .absent
    }

    /// Records a piece of the body that has been read.
    func note(_ chunk: Data) {
        let isKept = wire.isObserved && !hidesBody
        let limit = context.limits.bufferedBodyByteCount
        state.withLock { state in
            state.byteCount += chunk.count
            guard isKept, !state.isTooLarge, state.source != nil else { return }
            guard state.read.count + chunk.count <= limit else {
                state.isTooLarge = true
                state.read = Data()
                return
            }
            state.read.append(chunk)
        }
    }

    /// Ends the exchange after the last piece of the body.
    ///
    /// - Throws: ``PipelineError`` with code `truncated` if the body is shorter than announced, or `CancellationError`
    ///   if it ended because of a cancellation.
    func end() throws {
        let (source, byteCount) = state.withLock { ($0.source, $0.byteCount) }
        try PipelineBody.requireWhole(byteCount, of: source?.announcedByteCount)
        finish()
    }

    /// Ends the exchange, because reading the body has failed.
    ///
    /// If the body was being discarded, the error is ignored.
    func fail(_ error: any Error) {
        guard !state.withLock({ $0.isDiscarding }) else { return finish(with: PipelineBody.absent) }
        let failure = PipelineError(thrown: error, otherwise: .transport, "the body could not be read")
        finish(failure: failure.whileReading(response))
    }

    /// Records that the rest of the body is not needed.
    func beginDiscarding() {
        state.withLock { $0.isDiscarding = true }
    }

    /// Reads the rest of the body within the limits for discarded bodies, or closes the exchange.
    func discard() async {
        guard let source = state.withLock({ $0.source }) else { return }
        var unread = response
        unread.body = source
        // A body that has been read in part cannot be read from its beginning, and is closed.
        await unread.discardBody(context)
        finish(with: unread.body)
    }

    /// Ends the exchange with what the core has made of its response.
    func end(with result: CallResult) {
        switch result {
        case .success(let response): finish(with: hidesBody ? nil : response.body)
        case .failure(let failure): finish(failure: failure)
        }
    }

    /// Ends the exchange, because its body is no longer read.
    func release() { finish(with: PipelineBody.absent) }

    /// Ends the exchange, unless it has already ended.
    ///
    /// - Parameters:
    ///   - body: the body that observers see; `nil` for what has been read.
    ///   - failure: the reason why the body did not end.
    private func finish(with body: PipelineBody? = nil, failure: PipelineError? = nil) {
        guard let read = take() else { return }
        let now = context.now
        let exchanges = context.call.change(context.exchangeID) { exchange in
            exchange.duration = context.start.duration(to: now) - exchange.start
            exchange.failure = failure?.code
        }
        guard wire.isObserved else { return }
        if var failure {
            failure.request = response.request
            failure.exchanges = exchanges
            wire.observe(.failure(failure), context)
        } else {
            var response = response
            response.body = body ?? read
            response.exchanges = exchanges
            wire.observe(.success(response), context)
        }
    }

    /// Ends the exchange and returns what has been read; `nil` if it had already ended.
    private func take() -> PipelineBody? {
        state.withLock { state in
            guard state.source != nil else { return nil }
            state.source = nil
            defer { state.read = Data() }
            return state.isTooLarge || hidesBody ? PipelineBody.absent : .bytes(state.read)
        }
    }
}
