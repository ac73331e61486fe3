#if AsyncHTTPClient
import AsyncHTTPClient
import HTTPTypes
import NIOCore
import NIOHTTP1
import Pipeline
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

    init(hasPins: Bool) {
        self.hasPins = hasPins
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

/// A tracker that reports the progress of the exchange that a connection carries.
struct AsyncHTTPClientTracker {
    /// The exchanges of the client; `nil` for a shared client.
    var exchanges: AsyncHTTPClientExchanges?
    /// Not `nil` while the handler is on the connection.
    var timer: AsyncHTTPClientReadTimer?
    /// The try whose request was written last; `nil` once its response has begun.
    private var awaited: AsyncHTTPClientTry?
    /// The try whose request is being written, if its phases are recorded.
    private var writing: AsyncHTTPClientTry?
    /// The try whose request, without a body, is sent with the next flush.
    private var flushing: AsyncHTTPClientTry?
    private var hasBody = false
    /// What the connection does not change.
    private var connection: ExchangeConnection?
    /// The longest wait for the next bytes of the body; `nil` once the body has ended.
    private var idleTimeout: TimeAmount?
    private var hasHead = false

    /// Returns a part of a request as it must be written.
    ///
    /// - Parameters:
    ///   - part: the part as the client has made it.
    ///   - channel: the channel of the connection.
    ///   - version: the version of HTTP.
    ///   - isReused: whether the connection has carried a request before.
    ///   - hasResponded: whether the connection has carried a response before.
    ///   - promise: what the client wants to know of the part; replaced if the tracker wants to know it, too.
    /// - Returns: the part to write.
    mutating func outbound(
        _ part: HTTPClientRequestPart,
        on channel: any Channel,
        version: String,
        isReused: @autoclosure () -> Bool,
        hasResponded: @autoclosure () -> Bool,
        _ promise: inout EventLoopPromise<Void>?
    ) -> HTTPClientRequestPart {
        if let writing {
            switch part {
            case .head: break
            case .body: hasBody = true
            case .end where hasBody:
                let end = promise ?? channel.eventLoop.makePromise(of: Void.self)
                end.futureResult.whenSuccess { writing.requestIsSent() }
                promise = end
                self.writing = nil
            case .end: (flushing, self.writing) = (writing, nil)
            }
        }
        guard let exchanges, case .head(var head) = part else { return part }
        awaited = exchanges.take(from: &head)
        writing = awaited.flatMap { $0.isObserved ? $0 : nil }
        hasBody = false
        if let awaited {
            var connection = connection ?? ExchangeConnection(channel, version)
            self.connection = connection
            connection.isReused = isReused()
            awaited.connectionIsThere(connection, hasResponded: hasResponded())
            if exchanges.hasPins, let finding = AsyncHTTPClientPinCheck.Mark.take(on: channel) {
                awaited.reportTrust?(finding)
            }
            if let limit = awaited.headTimeout { timer?.start(limit, or: .deadlineExceeded) }
        }
        hasHead = false
        idleTimeout = awaited?.idleTimeout
        return .head(head)
    }

    /// Notes that what was written has been handed to the network.
    ///
    /// Header fields alone fit into the buffer of a connection that waits for nothing, which spares a promise.
    mutating func flushed() { flushing.take()?.requestIsSent() }

    /// Notes that the first bytes of the response have arrived.
    mutating func responseBegan() {
        awaited.take()?.responseBegan()
    }

    /// Notes that a head has arrived.
    ///
    /// A status of 100 to 199 is not the final one.
    mutating func headHasCome(_ head: HTTPResponseHead) {
        guard head.status.code >= 200 else { return }
        hasHead = true
        timer?.stop()
    }

    /// Notes that the client wants more of the response.
    func bytesAreAwaited() {
        if hasHead, let idleTimeout { timer?.start(idleTimeout, or: .readTimeout) }
    }

    /// Notes that bytes of the body have arrived.
    func bytesHaveCome() {
        if idleTimeout != nil { timer?.stop() }
    }

    /// Notes that the response has ended.
    mutating func responseEnded() {
        bytesHaveCome()
        idleTimeout = nil
    }

    /// Notes that the handler has left the connection.
    mutating func end() {
        timer.take()?.cancel()
    }
}

extension ExchangeConnection {
    /// Describes the connection of a channel.
    fileprivate init(_ channel: any Channel, _ version: String) {
        let peer = channel.remoteAddress ?? channel.parent?.remoteAddress
        let local = channel.localAddress ?? channel.parent?.localAddress
        self.init(
            protocolVersion: version,
            peerAddress: peer?.ipAddress ?? peer?.pathname,
            peerPort: peer?.port,
            localPort: local?.port
        )
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
    func connectionIsThere(_ connection: ExchangeConnection, hasResponded: Bool) {
        state.withLock { ($0.isWritten, $0.wasIdle) = (true, hasResponded) }
        context.reportConnection(connection)
    }

    /// Whether the phases of the exchange are recorded.
    var isObserved: Bool { context.observesPhases }

    /// Notes that the request has been written.
    func requestIsSent() { context.reportPhases { $0.requestSent = context.clock.now } }

    /// Notes that the first bytes of the response have arrived.
    func responseBegan() {
        state.withLock { $0.hasResponse = true }
        context.reportPhases { $0.responseBegan = context.clock.now }
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
