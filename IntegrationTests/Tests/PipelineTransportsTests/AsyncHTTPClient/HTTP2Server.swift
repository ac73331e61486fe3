import Foundation
import NIOCore
import NIOPosix
import NIOSSL
import Synchronization

/// A server on a loopback address that speaks as much of HTTP/2 over TLS as its tests need.
///
/// It reads the frames itself, because a server made of NIOHTTP2 does not choose the number in its GOAWAY.
final class HTTP2Server: Sendable {
    /// What the server does when a request has arrived in full.
    enum Reaction: Sendable {
        /// Responds with status 200 and no body.
        case respond
        /// Resets the stream with REFUSED_STREAM.
        case refuse
        /// Sends a GOAWAY with a number below that of the stream, and closes the connection.
        case goAway
        /// Resets the stream with CANCEL.
        case cancel
        /// Responds, then sends a GOAWAY with the number of the stream, and leaves the connection open.
        case leave
        /// Sends 2,000 PING frames and no response.
        case ping
        /// Sends the head of a response and three empty DATA frames.
        case sendNothing
    }

    /// A request that the server responded to.
    struct Processed: Sendable, Equatable {
        /// The number of the connection, from 0.
        let connection: Int
        let bodyByteCount: Int
    }

    private struct State {
        var reactions: [Reaction]
        var connectionCount = 0
        var openConnectionCount = 0
        var processed: [Processed] = []
    }

    private let state: Mutex<State>
    private let channel: Mutex<(any Channel)?> = Mutex(nil)

    /// - Parameter reactions: those to the first requests; the server responds to all others.
    /// - Throws: an error if the server cannot listen.
    init(_ reactions: Reaction...) throws {
        state = Mutex(State(reactions: reactions))
        var tls = TLSConfiguration.makeServerConfiguration(
            certificateChain: [.certificate(try NIOSSLCertificate(bytes: Array(Self.certificate.utf8), format: .pem))],
            privateKey: .privateKey(try NIOSSLPrivateKey(bytes: Array(Self.key.utf8), format: .pem))
        )
        tls.applicationProtocols = ["h2"]
        let context = try NIOSSLContext(configuration: tls)
        let bootstrap = ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { [weak self] channel in
                channel.eventLoop.makeCompletedFuture {
                    let connection = self?.begin() ?? 0
                    try channel.pipeline.syncOperations.addHandlers([
                        NIOSSLServerHandler(context: context),
                        HTTP2Frames { self?.react(on: connection, to: $0) ?? .cancel },
                    ])
                    channel.closeFuture.whenComplete { [weak self] _ in
                        self?.state.withLock { $0.openConnectionCount -= 1 }
                    }
                }
            }
        let bound = try bootstrap.bind(host: "127.0.0.1", port: 0).wait()
        channel.withLock { $0 = bound }
    }

    deinit { stop() }

    var port: Int { channel.withLock { $0?.localAddress?.port } ?? 0 }

    /// The requests that the server responded to.
    var processed: [Processed] { state.withLock { $0.processed } }

    var connectionCount: Int { state.withLock { $0.connectionCount } }

    var openConnectionCount: Int { state.withLock { $0.openConnectionCount } }

    func stop() {
        channel.withLock { $0 }?.close(promise: nil)
    }

    private func begin() -> Int {
        state.withLock { state in
            defer { state.connectionCount += 1 }
            state.openConnectionCount += 1
            return state.connectionCount
        }
    }

    private func react(on connection: Int, to bodyByteCount: Int) -> Reaction {
        state.withLock { state in
            let reaction = state.reactions.isEmpty ? .respond : state.reactions.removeFirst()
            if [.respond, .leave].contains(reaction) {
                state.processed.append(Processed(connection: connection, bodyByteCount: bodyByteCount))
            }
            return reaction
        }
    }
}

/// A handler that reads the frames of one connection (RFC 9113 §4.1).
private final class HTTP2Frames: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let react: (_ bodyByteCount: Int) -> HTTP2Server.Reaction
    private var received = ByteBuffer()
    private var hasPreface = false
    private var bodyByteCounts: [UInt32: Int] = [:]

    init(_ react: @escaping (_ bodyByteCount: Int) -> HTTP2Server.Reaction) { self.react = react }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        var data = unwrapInboundIn(data)
        received.writeBuffer(&data)
        if !hasPreface {
            guard received.readSlice(length: 24) != nil else { return }
            hasPreface = true
            send(4, on: 0, context: context)
        }
        while let length = received.getInteger(at: received.readerIndex, as: UInt32.self).map({ Int($0 >> 8) }),
            received.readableBytes >= 9 + length, let frame = received.readSlice(length: 9 + length)
        {
            take(frame, context: context)
        }
    }

    private func take(_ frame: ByteBuffer, context: ChannelHandlerContext) {
        guard let (type, flags, stream) = frame.getMultipleIntegers(at: 3, as: (UInt8, UInt8, UInt32).self) else {
            return
        }
        switch type {
        case 0: bodyByteCounts[stream, default: 0] += frame.readableBytes - 9
        case 1: bodyByteCounts[stream] = 0
        // SETTINGS, acknowledged.
        case 4 where flags & 1 == 0: return send(4, flags: 1, on: 0, context: context)
        default: return
        }
        guard flags & 1 != 0, let bodyByteCount = bodyByteCounts.removeValue(forKey: stream) else { return }
        switch react(bodyByteCount) {
        // The one field `:status: 200`, from the static table (RFC 7541 Appendix A).
        case .respond: send(1, flags: 5, [0x88], on: stream, context: context)
        case .refuse: send(3, [0, 0, 0, 7], on: stream, context: context)
        case .cancel: send(3, [0, 0, 0, 8], on: stream, context: context)
        case .goAway:
            let last = UInt8(truncatingIfNeeded: stream - (stream > 1 ? 2 : 1))
            send(7, [0, 0, 0, last, 0, 0, 0, 0], on: 0, context: context)
            context.close(promise: nil)
        case .leave:
            send(1, flags: 5, [0x88], on: stream, context: context)
            // In a later turn, so that the stream has ended before.
            context.eventLoop.assumeIsolated().scheduleTask(in: .milliseconds(50)) {
                self.send(7, [0, 0, 0, UInt8(truncatingIfNeeded: stream), 0, 0, 0, 0], on: 0, context: context)
            }
        case .ping:
            for _ in 0..<2_000 { send(6, [0, 0, 0, 0, 0, 0, 0, 0], on: 0, context: context) }
        case .sendNothing:
            send(1, flags: 4, [0x88], on: stream, context: context)
            for _ in 0..<3 { send(0, on: stream, context: context) }
        }
    }

    private func send(
        _ type: UInt8,
        flags: UInt8 = 0,
        _ payload: [UInt8] = [],
        on stream: UInt32,
        context: ChannelHandlerContext
    ) {
        var frame = ByteBuffer()
        frame.writeMultipleIntegers(UInt32(payload.count) << 8 | UInt32(type), flags, stream)
        frame.writeBytes(payload)
        context.writeAndFlush(wrapOutboundOut(frame), promise: nil)
    }
}

extension HTTP2Server {
    // A certificate for 127.0.0.1, signed with its own key, which exist for these tests only.
    private static let certificate = """
        -----BEGIN CERTIFICATE-----
        MIIBjjCCATSgAwIBAgIUBUnJa63YLIKFTuiy8AI6etjvwyowCgYIKoZIzj0EAwIw
        EzERMA8GA1UEAwwIbG9vcGJhY2swIBcNMjYxMTI5MDAwMjU5WhgPMjEyNjExMDUw
        MDAyNTlaMBMxETAPBgNVBAMMCGxvb3BiYWNrMFkwEwYHKoZIzj0CAQYIKoZIzj0D
        AQcDQgAE6gXiN6EJDd4Du4e2O7pd9tsViYagRE3WYryut1PLbZXUQ2uPj9vArnBm
        ebb+1uQ4mMpmDDqTY54xrHgrXLURTqNkMGIwHQYDVR0OBBYEFJFTmvE/yiga1zFd
        +7hTWIllp47DMB8GA1UdIwQYMBaAFJFTmvE/yiga1zFd+7hTWIllp47DMA8GA1Ud
        EwEB/wQFMAMBAf8wDwYDVR0RBAgwBocEfwAAATAKBggqhkjOPQQDAgNIADBFAiB+
        CExYGvAROkVpQLsH6KZYVocigj0sfusBlipy72IIGQIhAMZ/VrTKqE7z+p7mxUDV
        sU/80/bh5qTSvN4TSXgvsx6t
        -----END CERTIFICATE-----
        """

    private static let key = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgQOodeHnOYdpdNs2l
        NCRbfFfBLI0Nm75AVCJN0JLani+hRANCAATqBeI3oQkN3gO7h7Y7ul322xWJhqBE
        TdZivK63U8ttldRDa4+P28CucGZ5tv7W5DiYymYMOpNjnjGseCtctRFO
        -----END PRIVATE KEY-----
        """
}
