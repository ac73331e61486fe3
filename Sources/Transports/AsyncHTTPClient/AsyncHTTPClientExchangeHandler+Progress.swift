#if AsyncHTTPClient
import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import PipelineCore

/// The progress of the exchange that a channel carries.
extension AsyncHTTPClientExchangeHandler {
    /// Notes a request that is about to be written, and removes the mark of its exchange.
    func begin(_ head: inout HTTPRequestHead, on channel: any Channel) {
        (hasBody, hasHead) = (false, false)
        guard let exchanges else { return }
        awaited = exchanges.take(from: &head)
        writing = awaited.flatMap { $0.isObserved ? $0 : nil }
        idleTimeout = awaited?.idleTimeout
        guard let awaited else { return }
        var connection = connection ?? PipelineExchange.Connection(channel, isStream ? "2" : "1.1")
        self.connection = connection
        connection.isReused = history.hasCarriedRequest
        awaited.connectionIsThere(connection, hasResponded: history.hasCarriedResponse)
        if exchanges.hasPins, let finding = AsyncHTTPClientPinCheck.Mark.take(on: channel) {
            awaited.reportTrust?(finding)
        }
        if let limit = awaited.headTimeout { timer?.start(limit, or: .deadlineExceeded) }
    }

    /// Notes the end of a request that is about to be written.
    ///
    /// The promise is what the client wants to know of the end. It is replaced if the exchange wants to know it, too.
    func noteEnd(_ promise: inout EventLoopPromise<Void>?, on eventLoop: any EventLoop) {
        guard let writing = writing.take() else { return }
        guard hasBody else {
            flushing = writing
            return
        }
        let end = promise ?? eventLoop.makePromise(of: Void.self)
        end.futureResult.whenSuccess { writing.requestIsSent() }
        promise = end
    }

    /// Checks once for each connection whether its server is the one that a request is for.
    ///
    /// If it is not, the request fails and the connection is closed before any of it is written.
    func checkName(for head: HTTPRequestHead, on channel: any Channel) {
        guard checksName else { return }
        // The client keeps connections to different hosts separate, and sets the field from the URL.
        let authority = head.headers.first(name: "host") ?? ""
        guard authority != history.validAuthority else { return }
        guard let fault = AsyncHTTPClientPeerName.fault(ProxyVariables.host(of: authority), on: channel) else {
            history.validAuthority = authority
            return
        }
        refusal = fault
        // Not within this turn, in which the client writes.
        channel.eventLoop.execute {
            channel.pipeline.fireErrorCaught(fault)
            (channel.parent ?? channel).close(promise: nil)
        }
    }

    /// Notes that the first bytes of the response have arrived.
    func responseBegan() {
        awaited.take()?.responseBegan()
    }

    /// Notes that a head has arrived.
    ///
    /// A status of 100 to 199 is not the final one.
    func headHasCome(_ head: HTTPResponseHead) {
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
    func responseEnded() {
        bytesHaveCome()
        idleTimeout = nil
    }
}

extension PipelineExchange.Connection {
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
#endif
