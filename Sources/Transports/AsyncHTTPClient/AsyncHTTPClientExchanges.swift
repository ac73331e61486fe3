#if AsyncHTTPClient
import AsyncHTTPClient
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOSSL
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

/// A tracker that reports the progress of the exchange that a connection carries.
struct AsyncHTTPClientTracker {
    /// The exchanges of the client; `nil` for a shared client.
    private var exchanges: AsyncHTTPClientExchanges?
    /// Whether the certificate must be for the host of each request.
    private var checksName = false
    /// The authority for which the certificate was found valid.
    private var validAuthority: String?
    /// Why the connection must carry nothing; `nil` if it may.
    private var refusal: (any Error)?
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
    /// Sets what the connection belongs to: the exchanges of the transport's own client, or those of any client.
    mutating func serve(_ exchanges: AsyncHTTPClientExchanges?, checksName: Bool) {
        (self.exchanges, self.checksName) = (exchanges ?? self.exchanges, checksName)
    }

    /// Returns a part of a request as it must be written.
    ///
    /// - Parameters:
    ///   - part: the part as the client has made it.
    ///   - channel: the channel of the connection.
    ///   - version: the version of HTTP.
    ///   - isReused: whether the connection has carried a request before.
    ///   - hasResponded: whether the connection has carried a response before.
    ///   - promise: what the client wants to know of the part; replaced if the tracker wants to know it, too.
    /// - Returns: the part to write; `nil` if the server may not receive the request, which then fails.
    mutating func outbound(
        _ part: HTTPClientRequestPart,
        on channel: any Channel,
        version: String,
        isReused: @autoclosure () -> Bool,
        hasResponded: @autoclosure () -> Bool,
        _ promise: inout EventLoopPromise<Void>?
    ) -> HTTPClientRequestPart? {
        if checksName, case .head(let head) = part { checkName(for: head, on: channel) }
        if let refusal {
            promise?.fail(refusal)
            return nil
        }
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

    /// Checks once for each connection whether its server is the one that a request is for.
    ///
    /// If it is not, the request fails and the connection is closed before any of it is written.
    private mutating func checkName(for head: HTTPRequestHead, on channel: any Channel) {
        // The client keeps connections to different hosts separate, and sets the field from the URL.
        let authority = head.headers.first(name: "host") ?? ""
        let connection = AsyncHTTPClientConnections.HTTP2End.of(channel)
        guard authority != validAuthority, authority != connection?.validAuthority else { return }
        if let fault = AsyncHTTPClientPeerName.fault(ProxyVariables.host(of: authority), on: channel) {
            refusal = fault
            // Not within this turn, in which the client writes.
            return channel.eventLoop.execute {
                channel.pipeline.fireErrorCaught(fault)
                (channel.parent ?? channel).close(promise: nil)
            }
        }
        validAuthority = authority
        connection?.validAuthority = authority
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
        guard head.status.code >= 200 else {
            timer?.unlimit()
            return
        }
        hasHead = true
        timer?.stop()
    }

    /// Notes that bytes have arrived that do not complete a head.
    ///
    /// Until its first byte, a server may be busy. After that, it has little time to complete the head.
    func headIsIncomplete() {
        if !hasHead { timer?.limit(to: exchanges?.headLimit ?? .seconds(30), or: .deadlineExceeded) }
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
