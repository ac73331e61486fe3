#if AsyncHTTPClient
import HTTPTypes
import NIOCore
import NIOHTTP1
import PipelineCore
import Synchronization

/// The current exchanges of a client, which let a connection find the exchange that it carries.
///
/// AsyncHTTPClient does not report which connection a request gets. The request therefore carries a number in a header
/// field, which the handlers on the connection remove before the request is written.
final class AsyncHTTPClientExchanges: Sendable {
    private struct State {
        var lastID = 0
        var tries: [Int: AsyncHTTPClientTry] = [:]
    }

    /// A random name that no request uses by accident.
    private let field = "pipeline-exchange-\(UInt64.random(in: .min ... .max))"
    private let state = Mutex(State())
    /// Whether the client checks the keys of servers, so that a connection may have something to report.
    let hasPins: Bool
    /// The longest time from the first byte of a response to the end of its header fields.
    let headLimit: TimeAmount

    init(hasPins: Bool, headLimit: TimeAmount) {
        self.hasPins = hasPins
        self.headLimit = headLimit
    }

    /// Marks a request as a try until ``end(_:)`` is called.
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

    /// Removes the mark from a request that is about to be written.
    ///
    /// - Returns: the try that the request belongs to, or `nil` if that try has ended, for example by cancellation.
    func take(from head: inout HTTPRequestHead) -> AsyncHTTPClientTry? {
        guard let id = head.headers.first(name: field).flatMap({ Int($0) }) else { return nil }
        head.headers.remove(name: field)
        return state.withLock { $0.tries[id] }
    }
}

/// One request on one connection, and its progress.
final class AsyncHTTPClientTry: Sendable {
    private struct State {
        var isWritten = false
        /// Whether the connection had carried a response, so that the server may have closed it while it was idle.
        var wasIdle = false
        var hasResponse = false
    }

    /// The longest wait for the response's header fields, measured from the moment there is a connection.
    let headTimeout: TimeAmount?
    /// The longest wait for the next bytes of the body, for a body that is read without a pause.
    let idleTimeout: TimeAmount?
    /// Reports what the connection found about the server's key.
    let reportTrust: (@Sendable (AsyncHTTPClientPinCheck.Finding) -> Void)?
    private let context: PipelineContext
    private let state = Mutex(State())

    init(
        _ context: PipelineContext,
        headTimeout: TimeAmount?,
        idleTimeout: TimeAmount?,
        reportTrust: (@Sendable (AsyncHTTPClientPinCheck.Finding) -> Void)? = nil
    ) {
        self.context = context
        self.reportTrust = reportTrust
        self.headTimeout = headTimeout
        self.idleTimeout = idleTimeout
    }

    /// Notes that the request is about to be written.
    ///
    /// - Parameters:
    ///   - connection: the connection.
    ///   - hasResponded: whether the connection has carried a response before.
    func connectionIsThere(_ connection: PipelineExchange.Connection, hasResponded: Bool) {
        state.withLock { ($0.isWritten, $0.wasIdle) = (true, hasResponded) }
        context.report(.connection(connection))
    }

    /// Whether the phases of the exchange are recorded.
    var isObserved: Bool { context.observesPhases }

    /// Notes that the request has been written.
    func requestIsSent() { context.report(.phases { $0.requestSent = context.clock.now }) }

    /// Notes that the first bytes of the response have arrived.
    func responseBegan() {
        state.withLock { $0.hasResponse = true }
        context.report(.phases { $0.responseBegan = context.clock.now })
    }

    /// Returns whether the request may be sent on another connection after this one was lost.
    ///
    /// A request of which nothing was written may always be sent again. Otherwise, a server that closed an idle
    /// connection may or may not have seen it. The method must then be safe, and no byte of a response may have
    /// arrived.
    ///
    /// Source: RFC 9112 §9.3.1, https://www.rfc-editor.org/rfc/rfc9112.html#section-9.3.1
    func allowsAnother(_ request: PipelineRequest) -> Bool {
        let state = state.withLock { $0 }
        guard state.isWritten else { return true }
        return state.wasIdle && !state.hasResponse && request.body.isReplayable
            && Self.safeMethods.contains(request.method.rawValue)
    }

    private static let safeMethods: Set = ["GET", "HEAD", "OPTIONS", "TRACE", "QUERY"]
}
#endif
