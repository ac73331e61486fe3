import Foundation
import HTTPTypes
import PipelineCore
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One exchange: what has arrived, how it ended, and which callers are waiting for it.
///
/// A call that buffers waits once, for the whole response. A redirect and a call that streams wait for the header
/// fields and read the body in pieces.
final class URLSessionExchange: Sendable {
    private typealias Piece = URLSessionBacklog.Piece

    private struct State {
        var head: URLSessionResponseHead?
        var isStreaming: Bool
        var unread: URLSessionBacklog
        var receivedByteCount = 0
        var isSending = false
        var end: Result<Void, any Error>?
        var responseWaiter: CheckedContinuation<PipelineResponse, any Error>?
        var pieceWaiter: CheckedContinuation<Piece?, any Error>?
    }

    /// The work to do after the lock is released.
    private struct Effects {
        var response: (CheckedContinuation<PipelineResponse, any Error>, Result<PipelineResponse, any Error>)?
        var piece: (CheckedContinuation<Piece?, any Error>, Result<Piece?, any Error>)?
        var isCancelling = false
        /// The file that must be written further before anything else arrives.
        var isFilling: URLSessionOverflow?
    }

    private let request: PipelineRequest
    private let byteLimit: Int
    /// Kept as long as the exchange, because its file may be temporary.
    private let upload: URLSessionUpload
    private let owner: URLSessionExchanges
    let context: PipelineContext
    /// `nil` if neither rules nor identities apply to the session.
    let trust: URLSessionTrust?
    private let state: Mutex<State>

    /// - Parameters:
    ///   - request: the request to send.
    ///   - isStreaming: whether the response is returned as soon as its header fields have arrived.
    ///   - byteLimit: the most bytes that are kept in memory.
    ///   - spills: whether further bytes of a stream are written to a temporary file.
    ///   - upload: the body that the task sends.
    ///   - owner: cancels the task.
    ///   - trust: the rules and identities of the session.
    ///   - context: receives how much of the body has been sent and, on Apple platforms, what the session measures.
    init(
        request: PipelineRequest,
        isStreaming: Bool,
        byteLimit: Int,
        spills: Bool,
        upload: URLSessionUpload,
        owner: URLSessionExchanges,
        trust: URLSessionTrust? = nil,
        context: PipelineContext
    ) {
        self.request = request
        self.byteLimit = byteLimit
        self.upload = upload
        self.owner = owner
        self.trust = trust
        self.context = context
        let unread = URLSessionBacklog(memoryLimit: byteLimit, spills: spills)
        state = Mutex(State(isStreaming: isStreaming, unread: unread))
    }

    /// The host to which rules and identities apply.
    var host: String { request.ruleHost }

    /// Whether the exchange has not ended.
    var isOpen: Bool { state.withLock { $0.end == nil } }

    /// Whether Foundation decodes the body of the response.
    var isCoded: Bool { state.withLock { $0.head?.isCoded ?? false } }

    /// Whether header fields have arrived.
    var hasHead: Bool { state.withLock { $0.head != nil } }
}

// MARK: - The caller's side

extension URLSessionExchange {
    /// Waits for the response.
    ///
    /// Throws `CancellationError` as soon as the task is cancelled.
    func response() async throws -> PipelineResponse {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                change { state, effects in
                    state.responseWaiter = continuation
                    self.settle(&state, &effects)
                }
            }
        } onCancel: {
            close(throwing: CancellationError())
        }
    }

    /// Returns all bytes that have arrived since the last call, or `nil` at the end.
    func nextChunk() async throws -> Data? {
        try await withTaskCancellationHandler {
            let piece = try await withCheckedThrowingContinuation { continuation in
                change { state, effects in
                    state.pieceWaiter = continuation
                    self.settle(&state, &effects)
                }
            }
            return switch piece {
            case .bytes(let data): data
            case .file(let overflow, let byteCount): try await read(byteCount, from: overflow)
            case nil: nil
            }
        } onCancel: {
            close(throwing: CancellationError())
        }
    }

    private func read(_ byteCount: Int, from overflow: URLSessionOverflow) async throws -> Data {
        do {
            return try await overflow.read(byteCount)
        } catch {
            overflow.close()
            // If the bytes could not be written, the exchange has failed with the reason.
            failUnread(error)
            throw state.withLock { if case .failure(let failure) = $0.end { failure } else { error } }
        }
    }

    /// Ends the exchange unless it has ended.
    ///
    /// Unread bytes are dropped.
    func close(throwing error: any Error) {
        change { state, effects in
            guard state.end == nil || error is CancellationError else { return }
            effects.isCancelling = state.end == nil
            state.unread.removeAll()
            state.end = .failure(error)
            self.settle(&state, &effects)
        }
    }
}

// MARK: - The session's side

extension URLSessionExchange {
    func receive(_ response: URLResponse) {
        change { state, effects in
            guard state.end == nil, state.head == nil else { return }
            self.accept(response, &state, &effects)
            self.settle(&state, &effects)
        }
    }

    #if canImport(FoundationNetworking)
    /// Returns the body from its beginning, for a request that Foundation retries.
    func makeBodyStream() -> InputStream? { upload.makeStream() }
    #endif

    func didSend(_ byteCount: Int, of totalByteCount: Int) {
        let isOpen = state.withLock { state in
            state.isSending = byteCount < upload.byteCount ?? totalByteCount
            return state.end == nil
        }
        if isOpen { context.report(.sent(byteCount)) }
    }

    #if !canImport(FoundationNetworking)
    /// Notes what the session has measured of the exchange.
    func receive(_ metrics: URLSessionTaskTransactionMetrics) { context.report(metrics) }
    #endif

    func receive(_ data: Data) {
        change { state, effects in
            guard state.end == nil else { return }
            state.receivedByteCount += data.count
            switch state.unread.append(data) {
            case .memory: break
            case .file(let overflow):
                // Under the lock, so that no read precedes it.
                overflow.add(data) { [weak self] error in self?.failUnread(error) }
                effects.isFilling = overflow
            case .refused: self.fail(&state, &effects, self.tooManyBytes(state))
            }
            self.settle(&state, &effects)
        }
    }

    /// Notes that unread bytes could not be written to disk or read from it.
    private func failUnread(_ error: any Error) {
        change { state, effects in
            if case .failure = state.end { return }
            self.fail(&state, &effects, error)
            self.settle(&state, &effects)
        }
    }

    /// Ends the exchange with a failure.
    func fail(_ error: PipelineError) {
        change { state, effects in
            guard state.end == nil else { return }
            state.end = .failure(error)
            self.settle(&state, &effects)
        }
    }

    /// Notes that the session has finished the task, maybe within the body of a redirect that it did not report.
    func complete(response: URLResponse?, error: (any Error)?, isRedirect: Bool = false) {
        change { state, effects in
            guard state.end == nil else { return }
            if let failure = upload.failure {
                state.end = .failure(failure)
            } else if let error {
                let facts = URLErrorMapping.ExchangeFacts(
                    isSecure: self.request.head.scheme == "https",
                    hasHead: state.head != nil || isRedirect,
                    isCoded: state.head?.isCoded ?? false,
                    isSending: state.isSending
                )
                state.end = .failure(URLErrorMapping.exchangeError(for: error, facts))
            } else {
                if state.head == nil, let response { self.accept(response, &state, &effects) }
                if state.end == nil { state.end = self.endOfBody(state) }
            }
            self.settle(&state, &effects)
        }
    }

    private func accept(_ response: URLResponse, _ state: inout State, _ effects: inout Effects) {
        do {
            guard let head = try URLSessionResponseHead(response, to: request.method) else { return }
            state.head = head
            if head.isRedirect { state.isStreaming = true }
            guard !state.isStreaming, let announced = head.announcedByteCount, announced > byteLimit else { return }
            fail(&state, &effects, tooManyBytes(state))
        } catch {
            fail(&state, &effects, error)
        }
    }

    private func endOfBody(_ state: State) -> Result<Void, any Error> {
        guard let head = state.head else {
            return .failure(PipelineError(.connectionLost, "the exchange ended without a response"))
        }
        guard let announced = head.announcedByteCount, announced > state.receivedByteCount else { return .success(()) }
        let reason = "\(state.receivedByteCount) of \(announced) bytes arrived"
        return .failure(PipelineError(.truncated, reason))
    }

    private func tooManyBytes(_ state: State) -> PipelineError {
        state.isStreaming
            ? PipelineError(.limit(.unreadBytes), "more than \(byteLimit) bytes wait for their reader")
            : PipelineError(.limit(.bodyBytes), "the body is larger than the \(byteLimit) bytes allowed")
    }
}

// MARK: - State

extension URLSessionExchange {
    /// Changes the state, then acts on it.
    ///
    /// No outside code runs under the lock.
    private func change(_ body: (inout State, inout Effects) -> Void) {
        let effects = state.withLock { state in
            var effects = Effects()
            body(&state, &effects)
            return effects
        }
        if effects.isCancelling { owner.cancel(self) }
        if let (continuation, result) = effects.response { continuation.resume(with: result) }
        if let (continuation, result) = effects.piece { continuation.resume(with: result) }
        effects.isFilling?.waitForRoom()
    }

    /// Ends an exchange with an error and cancels its task.
    private func fail(_ state: inout State, _ effects: inout Effects, _ error: any Error) {
        state.unread.removeAll()
        state.end = .failure(error)
        effects.isCancelling = true
    }

    /// Resumes the callers whose results are available.
    private func settle(_ state: inout State, _ effects: inout Effects) {
        if let waiter = state.responseWaiter, let result = responseResult(&state) {
            state.responseWaiter = nil
            effects.response = (waiter, result)
        }
        if let waiter = state.pieceWaiter, let result = pieceResult(&state) {
            state.pieceWaiter = nil
            effects.piece = (waiter, result)
        }
    }

    private func responseResult(_ state: inout State) -> Result<PipelineResponse, any Error>? {
        if let head = state.head, state.isStreaming, !isCancelled(state) {
            let body = PipelineBody.stream(URLSessionBody(exchange: self), byteCount: head.announcedByteCount)
            return .success(PipelineResponse(request: request, head: head.fields, body: body))
        }
        switch state.end {
        case nil:
            return nil
        case .failure(let error):
            return .failure(error)
        case .success:
            guard let head = state.head else { return nil }
            // Only a stream is written to a file.
            guard case .bytes(let data) = state.unread.take() ?? .bytes(Data()) else { return nil }
            return .success(PipelineResponse(request: request, head: head.fields, body: .bytes(data)))
        }
    }

    private func pieceResult(_ state: inout State) -> Result<Piece?, any Error>? {
        state.unread.take().map { .success($0) } ?? state.end?.map { nil }
    }

    private func isCancelled(_ state: State) -> Bool {
        guard case .failure(let error) = state.end else { return false }
        return error is CancellationError
    }
}
