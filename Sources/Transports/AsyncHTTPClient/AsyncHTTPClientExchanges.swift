#if AsyncHTTPClient
import AsyncHTTPClient
import HTTPTypes
import NIOCore
import NIOHTTP1
import Pipeline
import Synchronization

/// The exchanges of a client that are under way, so that a connection knows which of them it carries.
///
/// AsyncHTTPClient does not report which connection a request gets. The request therefore carries a number in a field, which the
/// handlers on the connection remove before the request is written.
final class AsyncHTTPClientExchanges: Sendable {
    private struct State {
        var lastID = 0
        var tries: [Int: AsyncHTTPClientTry] = [:]
    }

    /// A name that no request has by chance.
    private let field = "pipeline-exchange-\(UInt64.random(in: .min ... .max))"
    private let state = Mutex(State())

    /// Marks a request as a try, until ``end(_:)``.
    func begin(_ attempt: AsyncHTTPClientTry, in fields: inout HTTPHeaders) -> Int {
        let id = state.withLock { state in
            state.lastID += 1
            state.tries[state.lastID] = attempt
            return state.lastID
        }
        fields.add(name: field, value: "\(id)")
        return id
    }

    func end(_ id: Int) {
        state.withLock { _ = $0.tries.removeValue(forKey: id) }
    }

    /// Removes the mark of a request that is about to be written.
    ///
    /// - Returns: the try that it belongs to, `nil` when that has ended, as by cancellation.
    func take(from head: inout HTTPRequestHead) -> AsyncHTTPClientTry? {
        guard let id = head.headers.first(name: field).flatMap({ Int($0) }) else { return nil }
        head.headers.remove(name: field)
        return state.withLock { $0.tries[id] }
    }
}

/// What a handler on a connection reports about the exchange that the connection carries.
struct AsyncHTTPClientTracker {
    /// Those of the client, if it is the transport's own.
    var exchanges: AsyncHTTPClientExchanges?
    /// Set while the handler is on the connection.
    var timer: AsyncHTTPClientReadTimer?
    /// Whose request was written last, until the first bytes of its response.
    private var awaited: AsyncHTTPClientTry?
    /// How long the next bytes of a body may take, until it has ended.
    private var idleTimeout: TimeAmount?
    private var hasHead = false

    /// A part of a request as it is to be written.
    mutating func outbound(_ part: HTTPClientRequestPart, isReused: @autoclosure () -> Bool) -> HTTPClientRequestPart {
        guard let exchanges, case .head(var head) = part else { return part }
        awaited = exchanges.take(from: &head)
        if let awaited {
            awaited.connectionIsThere(isReused: isReused())
            if let limit = awaited.headTimeout { timer?.start(limit, or: .deadlineExceeded) }
        }
        hasHead = false
        idleTimeout = awaited?.idleTimeout
        return .head(head)
    }

    /// The first bytes of the response have come.
    mutating func responseBegan() {
        awaited.take()?.responseBegan()
    }

    /// A head has come; one with a status of 100 to 199 is not the last.
    mutating func headHasCome(_ head: HTTPResponseHead) {
        guard head.status.code >= 200 else { return }
        hasHead = true
        timer?.stop()
    }

    /// The client wants more of the response.
    func bytesAreAwaited() {
        if hasHead, let idleTimeout { timer?.start(idleTimeout, or: .readTimeout) }
    }

    /// Bytes of the body have come.
    func bytesHaveCome() {
        if idleTimeout != nil { timer?.stop() }
    }

    /// The end of the response has come.
    mutating func responseEnded() {
        bytesHaveCome()
        idleTimeout = nil
    }

    /// The handler has left the connection.
    mutating func end() {
        timer.take()?.cancel()
    }
}

/// One request on one connection, as far as it has come.
final class AsyncHTTPClientTry: Sendable {
    private struct State {
        var isWritten = false
        var isReused = false
        var hasResponse = false
    }

    /// How long the header fields of the response may take once there is a connection.
    let headTimeout: TimeAmount?
    /// How long the next bytes of the body may take, for a body that is read without a pause.
    let idleTimeout: TimeAmount?
    private let context: PipelineContext
    private let state = Mutex(State())

    init(_ context: PipelineContext, headTimeout: TimeAmount?, idleTimeout: TimeAmount?) {
        self.context = context
        self.headTimeout = headTimeout
        self.idleTimeout = idleTimeout
    }

    /// The request is about to be written.
    ///
    /// - Parameter isReused: whether the connection has carried a response before.
    func connectionIsThere(isReused: Bool) {
        state.withLock { ($0.isWritten, $0.isReused) = (true, isReused) }
        context.reportConnection()
    }

    /// The first bytes of the response have come.
    func responseBegan() {
        state.withLock { $0.hasResponse = true }
    }

    /// Whether the request may be sent on another connection after this one was lost.
    ///
    /// It may when nothing of it was written. When it was, a server that closes an idle connection may not have seen it; since the
    /// client cannot know, the method must be safe, and nothing of a response may have come.
    ///
    /// Source: RFC 9112 §9.3.1, https://www.rfc-editor.org/rfc/rfc9112.html#section-9.3.1
    func allowsAnother(_ request: PipelineRequest) -> Bool {
        let state = state.withLock { $0 }
        guard state.isWritten else { return true }
        return state.isReused && !state.hasResponse && request.body.isReplayable
            && Self.safeMethods.contains(request.method.rawValue)
    }

    private static let safeMethods: Set = ["GET", "HEAD", "OPTIONS", "TRACE", "QUERY"]
}
#endif
