import Foundation
import Pipeline
import TestSupport
import Testing

@testable import PipelineTransports

@Suite("ProxyHandshake", .watched)
struct ProxyHandshakeTests {
    private typealias Route = AsyncHTTPClientTransport.ProxyPolicy.Route

    private static let ann = AsyncHTTPClientTransport.ProxyPolicy.Credential(username: "ann", password: "é:1")

    private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

    /// Gives the bytes to a handshake, at once or one at a time, and returns the steps that are not `wait`.
    private func steps(_ handshake: ProxyHandshake, _ parts: [[UInt8]], size: Int) -> [ProxyHandshake.Step] {
        var handshake = handshake
        var steps: [ProxyHandshake.Step] = []
        for part in parts {
            var rest = part[...]
            while !rest.isEmpty {
                let step = handshake.receive(rest.prefix(size))
                rest = rest.dropFirst(size)
                if step != .wait { steps.append(step) }
            }
        }
        return steps
    }

    @Test("RFC 9110 §9.3.6 A client asks an HTTP proxy for a tunnel, with its credential in Basic")
    func connectRequest() throws {
        let target = ProxyTarget(host: "API.example", port: 443)
        let plain = ProxyHandshake(.http(host: "p", port: 1), target)
        #expect(text(plain.greeting) == "CONNECT api.example:443 HTTP/1.1\r\nHost: api.example:443\r\n\r\n")
        let secure = ProxyHandshake(
            .https(host: "p", port: 1, credential: Self.ann),
            ProxyTarget(host: "::1", port: 80)
        )
        let basic = Data("ann:é:1".utf8).base64EncodedString()
        let expected = "CONNECT [::1]:80 HTTP/1.1\r\nHost: [::1]:80\r\nProxy-Authorization: Basic \(basic)\r\n\r\n"
        #expect(text(secure.greeting) == expected)
    }

    private static let heads: [(String, ProxyHandshake.Step?)] = [
        ("HTTP/1.1 200 OK\r\n\r\n", .open(rest: [])), ("HTTP/1.0 299 \r\nA: b\r\n\r\n", .open(rest: [])),
        ("HTTP/1.1 200\r\n\r\n", .open(rest: [])),
        ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", .open(rest: [])),
        ("HTTP/1.1 407 No\r\n\r\n", .fail(.authentication)), ("HTTP/1.1 401 No\r\n\r\n", .fail(.authentication)),
        ("HTTP/1.1 503 No\r\nContent-Length: 0\r\n\r\n", .fail(.status(503))),
        ("HTTP/1.1 101 No\r\n\r\n", .fail(.status(101))), ("HTTP/2 200\r\n\r\n", .fail(.malformed)),
        ("SSH-2.0-x\r\n\r\n", .fail(.malformed)), ("HTTP/1.1 2000 OK\r\n\r\n", .fail(.malformed)),
        ("\r\n\r\n", .fail(.malformed)), ("HTTP/1.1 200 OK\r\n", nil),
        (String(repeating: "a", count: 16_385), .fail(.malformed)),
    ]

    @Test("A response to CONNECT opens the tunnel or says why not", arguments: 0..<heads.count)
    func response(_ index: Int) {
        let (head, expected) = Self.heads[index]
        let handshake = ProxyHandshake(.http(host: "p", port: 1), ProxyTarget(host: "h", port: 1))
        for size in [head.utf8.count, 1] {
            #expect(
                steps(handshake, [Array(head.utf8)], size: size) == [expected].compactMap(\.self),
                "\(head.prefix(40))"
            )
        }
        var whole = handshake
        #expect(whole.receive(Array("HTTP/1.1 200 OK\r\n\r\nmore".utf8)) == .open(rest: Array("more".utf8)))
    }

    /// The route's credential is used; the target; what the proxy sends; what the client sends; the end.
    private static let talks: [(Bool, String, [[UInt8]], [[UInt8]], ProxyHandshake.Step?)] = [
        (
            false, "h.test", [[5, 0], [5, 0, 0, 1, 127, 0, 0, 1, 0, 80]],
            [[5, 1, 0], [5, 1, 0, 3, 6] + Array("h.test".utf8) + [1, 187]], .open(rest: [])
        ),
        (
            true, "127.0.0.1", [[5, 2], [1, 0], [5, 0, 0, 3, 2, 97, 98, 0, 80]],
            [
                [5, 2, 0, 2], [1, 3] + Array("ann".utf8) + [4] + Array("é:1".utf8), [5, 1, 0, 1, 127, 0, 0, 1, 1, 187],
            ],
            .open(rest: [])
        ),
        (
            true, "::1", [[5, 0], [5, 0, 0, 4] + [UInt8](repeating: 0, count: 18)],
            [[5, 2, 0, 2], [5, 1, 0, 4] + [UInt8](repeating: 0, count: 15) + [1, 1, 187]], .open(rest: [])
        ),
        (false, "h", [[5, 255]], [[5, 1, 0]], .fail(.authentication)),
        (true, "h", [[5, 255]], [[5, 2, 0, 2]], .fail(.authentication)),
        (false, "h", [[5, 2]], [[5, 1, 0]], .fail(.malformed)),
        (false, "h", [[4, 0]], [[5, 1, 0]], .fail(.malformed)),
        (false, "h", [[72, 84]], [[5, 1, 0]], .fail(.malformed)), (false, "h", [[5]], [[5, 1, 0]], nil),
        (
            true, "h", [[5, 2], [1, 1]], [[5, 2, 0, 2], [1, 3] + Array("ann".utf8) + [4] + Array("é:1".utf8)],
            .fail(.authentication)
        ),
        (
            false, "h", [[5, 0], [5, 5, 0, 1, 0, 0, 0, 0, 0, 0]], [[5, 1, 0], [5, 1, 0, 3, 1, 104, 1, 187]],
            .fail(.reply(5))
        ),
        (false, "h", [[5, 0], [5, 0, 0, 9, 1]], [[5, 1, 0], [5, 1, 0, 3, 1, 104, 1, 187]], .fail(.malformed)),
    ]

    @Test("RFC 1928, RFC 1929 The handshake with a SOCKS5 proxy, whole and byte by byte", arguments: 0..<talks.count)
    func socks(_ index: Int) {
        let (hasCredential, host, received, sent, end) = Self.talks[index]
        let route = Route.socks5(host: "p", port: 1, credential: hasCredential ? Self.ann : nil)
        let handshake = ProxyHandshake(route, ProxyTarget(host: host, port: 443))
        let expected = sent.dropFirst().map { ProxyHandshake.Step.send($0) } + [end].compactMap(\.self)
        #expect(handshake.greeting == sent[0])
        #expect(steps(handshake, received, size: 100) == expected)
        guard case .open? = end else { return }
        #expect(steps(handshake, received, size: 1) == expected)
    }

    @Test("Bytes after the reply of a SOCKS5 proxy belong to the tunnel")
    func rest() {
        let handshake = ProxyHandshake(.socks5(host: "p", port: 1), ProxyTarget(host: "h", port: 1))
        let steps = steps(handshake, [[5, 0], [5, 0, 0, 1, 0, 0, 0, 0, 0, 0, 7, 8]], size: 100)
        #expect(steps.last == .open(rest: [7, 8]))
    }

    @Test(
        "A target is a host and a port",
        arguments: [
            ("h:1", "h", 1), ("H.Test:65535", "h.test", 65_535), ("[::1]:80", "::1", 80),
            ("2001:db8::1:80", "2001:db8::1", 80),
        ]
    )
    func target(text: String, host: String, port: UInt16) {
        #expect(ProxyTarget(text[...]) == ProxyTarget(host: host, port: port))
    }

    @Test(
        "A target without a host or a port, or with other characters, is rejected",
        arguments: ["", "h", ":1", "h:", "h:0", "h:65536", "h:x", "a b:1", "a/b:1", "a@b:1", "é:1", "[]:1"]
    )
    func noTarget(text: String) {
        #expect(ProxyTarget(text[...]) == nil)
    }

    @Test("A name of 256 bytes does not fit into a SOCKS5 request and is rejected")
    func longName() {
        #expect(ProxyTarget(Substring(String(repeating: "a", count: 255) + ":1")) != nil)
        #expect(ProxyTarget(Substring(String(repeating: "a", count: 256) + ":1")) == nil)
    }
}
