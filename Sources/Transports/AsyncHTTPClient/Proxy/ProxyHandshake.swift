#if AsyncHTTPClient
/// What a client says to a proxy and hears from it before a tunnel is open.
///
/// It does no I/O: it receives the bytes of the proxy and returns what to do next.
struct ProxyHandshake: Sendable {
    /// What to do after bytes have been received.
    enum Step: Sendable, Equatable {
        case wait
        case send([UInt8])
        /// The tunnel is open; the bytes that follow the handshake belong to it.
        case open(rest: [UInt8])
        case fail(ProxyFault)
    }

    private enum State {
        case connect
        case method
        case authentication
        case reply
    }

    /// The longest response to CONNECT, with its header fields.
    static let maximumHeadByteCount = 16_384
    private static let maximumInformationalCount = 16

    private let target: ProxyTarget
    private let credential: AsyncHTTPClientTransport.ProxyPolicy.Credential?
    private var state: State
    private var buffer: [UInt8] = []
    private var informationalCount = 0
    /// The bytes of the buffer that contain no end of a head.
    private var scannedByteCount = 0

    init(_ route: AsyncHTTPClientTransport.ProxyPolicy.Route, _ target: ProxyTarget) {
        self.target = target
        credential = route.credential
        state = route.kind == .socks5 ? .method : .connect
    }

    /// The first bytes to send.
    var greeting: [UInt8] {
        switch state {
        case .connect:
            var text = "CONNECT \(target.authority) HTTP/1.1\r\nHost: \(target.authority)\r\n"
            if let credential { text += "Proxy-Authorization: \(credential.basicAuthorization)\r\n" }
            return Array((text + "\r\n").utf8)
        default:
            // Version 5, and the methods: none, and user name and password.
            return credential == nil ? [5, 1, 0] : [5, 2, 0, 2]
        }
    }

    /// Processes the next bytes of the proxy.
    mutating func receive(_ bytes: some Collection<UInt8>) -> Step {
        buffer += bytes
        switch state {
        case .connect: return receiveHead()
        case .method: return receiveMethod()
        case .authentication: return receiveAuthentication()
        case .reply: return receiveReply()
        }
    }

    /// Processes the response to CONNECT (RFC 9110 §9.3.6).
    private mutating func receiveHead() -> Step {
        let end = Array("\r\n\r\n".utf8)
        guard let range = buffer[max(0, scannedByteCount - end.count + 1)...].firstRange(of: end) else {
            scannedByteCount = buffer.count
            return buffer.count > Self.maximumHeadByteCount ? .fail(.malformed) : .wait
        }
        let line = buffer.prefix { $0 != UInt8(ascii: "\r") }
        let parts = line.split(separator: UInt8(ascii: " "), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count > 1, parts[0].starts(with: "HTTP/1.".utf8), parts[1].count == 3,
            let status = Int(String(decoding: parts[1], as: UTF8.self))
        else { return .fail(.malformed) }
        let rest = Array(buffer[range.upperBound...])
        switch status {
        case 100...199 where status != 101:
            // Informational responses precede the final one.
            informationalCount += 1
            guard informationalCount <= Self.maximumInformationalCount else { return .fail(.malformed) }
            (buffer, scannedByteCount) = ([], 0)
            return receive(rest)
        case 200...299: return .open(rest: rest)
        // tinyproxy responds with 401.
        case 401, 407: return .fail(.authentication)
        default: return .fail(.status(status))
        }
    }

    /// Processes the method that the proxy has chosen (RFC 1928 §3).
    private mutating func receiveMethod() -> Step {
        guard buffer.count >= 2 else { return .wait }
        let (version, method) = (buffer[0], buffer[1])
        buffer.removeFirst(2)
        guard version == 5, buffer.isEmpty else { return .fail(.malformed) }
        switch (method, credential) {
        case (0, _):
            state = .reply
            return .send(connectRequest)
        case (2, let credential?):
            state = .authentication
            let (user, password) = (Array(credential.username.utf8), Array(credential.password.utf8))
            // The credential has been checked to have at most 255 bytes in each part.
            return .send([1, UInt8(clamping: user.count)] + user + [UInt8(clamping: password.count)] + password)
        case (0xFF, _): return .fail(.authentication)
        default: return .fail(.malformed)
        }
    }

    /// Processes the result of the authentication (RFC 1929 §2).
    private mutating func receiveAuthentication() -> Step {
        guard buffer.count >= 2 else { return .wait }
        let status = buffer[1]
        buffer.removeFirst(2)
        guard status == 0 else { return .fail(.authentication) }
        guard buffer.isEmpty else { return .fail(.malformed) }
        state = .reply
        return .send(connectRequest)
    }

    /// Processes the reply to the request for a connection (RFC 1928 §6).
    private mutating func receiveReply() -> Step {
        guard buffer.count >= 2 else { return .wait }
        guard buffer[0] == 5 else { return .fail(.malformed) }
        guard buffer[1] == 0 else { return .fail(.reply(buffer[1])) }
        guard buffer.count >= 5 else { return .wait }
        let addressByteCount: Int
        switch buffer[3] {
        case 1: addressByteCount = 4
        case 3: addressByteCount = 1 + Int(buffer[4])
        case 4: addressByteCount = 16
        default: return .fail(.malformed)
        }
        let byteCount = 4 + addressByteCount + 2
        guard buffer.count >= byteCount else { return .wait }
        return .open(rest: Array(buffer[byteCount...]))
    }

    /// The request for a connection: to a name, which the proxy resolves, or to an address.
    private var connectRequest: [UInt8] { [5, 1, 0] + target.socksAddress }
}
#endif
