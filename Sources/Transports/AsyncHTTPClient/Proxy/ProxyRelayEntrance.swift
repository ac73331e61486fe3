#if AsyncHTTPClient
import NIOCore
import NIOPosix
import NIOSSL
import PipelineCore

/// The handler of a connection from AsyncHTTPClient to the relay: reads CONNECT, opens the tunnel, and responds.
final class ProxyRelayEntrance: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private static let maximumHeadByteCount = 16_384

    private let relay: ProxyRelay
    private var head: [UInt8] = []
    private var target: ProxyTarget?
    private var hasEnded = false
    /// Closes a connection that has not shown the secret in time.
    private var deadline: Scheduled<Void>?

    init(_ relay: ProxyRelay) {
        self.relay = relay
    }

    func handlerAdded(context: ChannelHandlerContext) {
        // Any process can connect, but only this transport knows the secret.
        let channel = context.channel
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: relay.connectTimeout) {
            if self.target == nil { channel.close(promise: nil) }
        }
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        deadline?.cancel()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        head += unwrapInboundIn(data).readableBytesView
        // A client that says more than CONNECT before the tunnel is open is not AsyncHTTPClient.
        guard target == nil, head.count <= Self.maximumHeadByteCount else { return context.close(promise: nil) }
        guard head.suffix(4).elementsEqual("\r\n\r\n".utf8) else { return }
        guard let target = Self.target(in: String(decoding: head, as: UTF8.self), relay) else {
            return context.close(promise: nil)
        }
        self.target = target
        connect(to: target, context)
    }

    func channelInactive(context: ChannelHandlerContext) {
        hasEnded = true
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        context.close(promise: nil)
    }

    /// Returns the target of a CONNECT request with the relay's secret.
    private static func target(in head: String, _ relay: ProxyRelay) -> ProxyTarget? {
        let lines = head.split(separator: "\r\n")
        let words = lines.first?.split(separator: " ") ?? []
        guard words.count == 3, words[0] == "CONNECT", let target = ProxyTarget(words[1]) else { return nil }
        let name = "proxy-authorization:"
        let values = lines.dropFirst().filter { $0.lowercased().hasPrefix(name) }
        guard values.count == 1, relay.accepts(values[0].dropFirst(name.count).drop { $0 == " " }) else { return nil }
        return target
    }

    private func connect(to target: ProxyTarget, _ context: ChannelHandlerContext) {
        let channel = context.channel
        ClientBootstrap(group: context.eventLoop)
            .connectTimeout(relay.connectTimeout)
            .channelOption(.tcpOption(.tcp_nodelay), value: 1)
            .channelInitializer { upstream in
                // Also ends an attempt to connect that is not needed any more.
                channel.closeFuture.whenComplete { _ in upstream.close(promise: nil) }
                return upstream.eventLoop.makeSucceededVoidFuture()
            }
            .connect(host: relay.proxy.route.host, port: relay.proxy.route.port)
            .assumeIsolated()
            .whenComplete { result in
                switch result {
                case .success(let upstream): self.begin(upstream, target, context)
                case .failure(let error):
                    let code = AsyncHTTPClientErrorMapping.code(of: error)
                    self.finish(.failure(.connection(code)), nil, target, context)
                }
            }
    }

    private func begin(_ upstream: any Channel, _ target: ProxyTarget, _ context: ChannelHandlerContext) {
        guard !hasEnded else { return upstream.close(promise: nil) }
        relay.add(upstream)
        let exit = ProxyRelayExit(
            ProxyHandshake(relay.proxy.route, target),
            secureHost: relay.tls.map { _ in relay.proxy.route.host }
        ) {
            self.finish($0, upstream, target, context)
        }
        do {
            let pipeline = upstream.pipeline.syncOperations
            if let tls = relay.tls {
                let isAddress = ProxyExceptions.address(relay.proxy.route.host) != nil
                let name = isAddress ? nil : relay.proxy.route.host
                try pipeline.addHandler(NIOSSLClientHandler(context: tls, serverHostname: name))
            }
            try pipeline.addHandler(exit)
        } catch {
            finish(.failure(.connection(.tls(.handshake))), upstream, target, context)
        }
    }

    /// Responds to AsyncHTTPClient, and joins both connections if the tunnel is open.
    private func finish(
        _ result: Result<[UInt8], ProxyFault>,
        _ upstream: (any Channel)?,
        _ target: ProxyTarget,
        _ context: ChannelHandlerContext
    ) {
        guard !hasEnded else { return }
        hasEnded = true
        switch result {
        case .success(let rest):
            guard let upstream else { return }
            respond("200 OK", rest, context)
            do {
                try ProxyRelayEnd.join(context.channel, upstream)
                context.pipeline.syncOperations.removeHandler(self, promise: nil)
            } catch {
                context.close(promise: nil)
            }
        case .failure(let fault):
            relay.report(fault, of: target)
            respond("502 Bad Gateway", [], context)
            upstream?.close(promise: nil)
        }
    }

    private func respond(_ status: String, _ rest: [UInt8], _ context: ChannelHandlerContext) {
        var buffer = context.channel.allocator.buffer(string: "HTTP/1.1 \(status)\r\n\r\n")
        buffer.writeBytes(rest)
        context.writeAndFlush(wrapOutboundOut(buffer), promise: nil)
    }
}
#endif
