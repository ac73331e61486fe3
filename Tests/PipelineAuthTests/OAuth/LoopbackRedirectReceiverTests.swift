import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@testable import PipelineAuth

@Suite("OAuthPlugin: the loopback redirect", .tags(.concurrent), .realTime, .watched)
struct LoopbackRedirectReceiverTests {
    /// Returns the response as text: the head and the body.
    private static func response(_ method: String, _ url: String) throws -> String {
        let components = try #require(URLComponents(string: url))
        let plug = try LoopbackPlug(port: try #require(components.port))
        let query = components.percentEncodedQuery.map { "?" + $0 } ?? ""
        plug.send("\(method) \(components.percentEncodedPath)\(query) HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
        return plug.readAll()
    }

    @Test("Only one GET of the path with the state is accepted; all other requests get a 404")
    func accepts() async throws {
        let receiver = try LoopbackRedirectReceiver(port: 0, path: "/callback")
        receiver.start(state: "right")
        let address = receiver.url.absoluteString
        #expect(address.hasPrefix("http://127.0.0.1:"))
        let others = [
            ("GET", "?code=c&state=wrong"), ("GET", "?code=c"), ("GET", ""), ("GET", "?state=right&state=right"),
            ("GET", "/x?state=right"), ("POST", "?code=c&state=right"), ("HEAD", "?code=c&state=right"),
        ]
        for (method, rest) in others {
            #expect(try Self.response(method, address + rest).hasPrefix("HTTP/1.1 404 "), "\(method) \(rest)")
        }
        let favicon = address.replacingOccurrences(of: "/callback", with: "/favicon.ico?state=right")
        #expect(try Self.response("GET", favicon).hasPrefix("HTTP/1.1 404 "))
        let page = try Self.response("GET", address + "?code=c%2B&state=right")
        #expect(page.hasPrefix("HTTP/1.1 200 "))
        #expect(page.contains("\r\nCache-Control: no-store\r\n"))
        #expect(page.contains("\r\nContent-Security-Policy: default-src 'none'\r\n"))
        #expect(page.contains("\r\nReferrer-Policy: no-referrer\r\n"))
        #expect(!page.contains("script") && !page.contains("right") && !page.contains("c+"))
        #expect(try await receiver.callback().absoluteString == address + "?code=c%2B&state=right")
        // The port is closed after the one redirect.
        #expect(throws: (any Error).self) { try Self.response("GET", address + "?code=c&state=right") }
    }

    @Test("Idle connections do not delay the browser, and a request of more than 8 KiB is dropped")
    func bounds() async throws {
        let receiver = try LoopbackRedirectReceiver(port: 0, path: "/")
        receiver.start(state: "s")
        let port = try #require(receiver.url.port)
        var idle: [LoopbackPlug] = []
        for _ in 0..<20 { idle.append(try LoopbackPlug(port: port)) }
        let large = try LoopbackPlug(port: port)
        large.send("GET /?state=s&x=" + String(repeating: "a", count: 9_000) + " HTTP/1.1\r\n\r\n")
        #expect(large.readAll() == "")
        let response = try Self.response("GET", receiver.url.absoluteString + "?state=s")
        #expect(response.hasPrefix("HTTP/1.1 200 "))
        _ = try await receiver.callback()
        withExtendedLifetime(idle) {}
    }

    @Test("Cancelling the wait closes the port")
    func cancellation() async throws {
        let receiver = try LoopbackRedirectReceiver(port: 0, path: "/")
        receiver.start(state: "s")
        let wait = Task { try await receiver.callback() }
        wait.cancel()
        await #expect(throws: CancellationError.self) { try await wait.value }
        #expect(throws: (any Error).self) { try LoopbackPlug(port: try #require(receiver.url.port)) }
    }

    @Test("A port in use fails the sign-in")
    func portInUse() throws {
        let receiver = try LoopbackRedirectReceiver(port: 0, path: "/")
        defer { receiver.close() }
        let error = #expect(throws: PipelineError.self) {
            _ = try LoopbackRedirectReceiver(port: try #require(receiver.url.port), path: "/")
        }
        #expect(error?.code == .oauth(.redirect))
    }

    @Test("The sign-in listens only while it is in progress, and gives up when the time is over")
    func timeout() async throws {
        let bench = OAuthBench()
        let opened = LockedList<URL>()
        let oauth = bench.plugin(
            grant: .authorizationCode(timeout: .seconds(60)) { url in opened.append(url) }
        )
        let error = await bench.clock.run { await oauthError { try await oauth.signIn() } }
        #expect(error?.code == .oauth(.expired))
        #expect(opened.all.count == 1)
        #expect(bench.tokenForms.isEmpty)
    }

    @Test("The browser's redirect to the loopback address signs in")
    func flow() async throws {
        let bench = OAuthBench()
        let oauth = bench.plugin(
            grant: .authorizationCode { url in
                let items = FormText.items(of: url.query(percentEncoded: true) ?? "")
                func value(_ name: String) -> String { items.first { $0.name == name }?.value ?? "" }
                // Not URLSession's data(for:), which deadlocks on Linux when it is cancelled.
                _ = try Self.response("GET", value("redirect_uri") + "?code=CANARY-code&state=" + value("state"))
            }
        )
        try await oauth.signIn()
        let form = try #require(bench.tokenForms.first)
        #expect(form["code"] == "CANARY-code")
        #expect(form["redirect_uri"]?.hasPrefix("http://127.0.0.1:") == true)
        #expect(form["redirect_uri"]?.hasSuffix("/callback") == true)
        #expect(try await oauth.isSignedIn)
    }
}

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// A plain connection to a port of 127.0.0.1.
private final class LoopbackPlug {
    private let descriptor: CInt

    init(port: Int) throws {
        #if canImport(Darwin)
        descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #else
        descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(truncatingIfNeeded: port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw POSIXError(.ECONNREFUSED) }
        var limit = timeval(tv_sec: 60, tv_usec: 0)
        _ = setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { _ = close(descriptor) }

    func send(_ text: String) {
        let bytes = Array(text.utf8)
        _ = write(descriptor, bytes, bytes.count)
    }

    /// Returns what arrives until the connection ends; records an issue if nothing arrives for a minute.
    func readAll() -> String {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        var all: [UInt8] = []
        while true {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0, errno == EAGAIN || errno == EWOULDBLOCK {
                Issue.record("The receiver sent nothing for 60 s and did not close the connection.")
            }
            guard count > 0 else { return String(decoding: all, as: UTF8.self) }
            all += buffer[..<count]
        }
    }
}
