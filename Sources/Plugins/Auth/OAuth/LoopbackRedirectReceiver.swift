import Foundation
import PipelineCore
import PipelinePlugins
import Synchronization

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// Receives the redirect of one sign-in on a port of 127.0.0.1.
///
/// A thread serves at most 16 connections at a time, reads at most 8 KiB of each, and closes those that send no request
/// within 10 s. All stop when the receiver is closed.
///
/// Source: RFC 8252 §7.3, https://www.rfc-editor.org/rfc/rfc8252.html#section-7.3
final class LoopbackRedirectReceiver: Sendable {
    private struct Connection {
        let descriptor: CInt
        var bytes: [UInt8] = []
        let end: ContinuousClock.Instant
    }

    private static let connectionCount = 16
    private static let requestByteCount = 8 << 10
    private static let patience = Duration.seconds(10)

    let url: URL
    private let path: String
    private let listener: CInt
    private let isClosed = Atomic(false)
    private let hasStarted = Atomic(false)
    private let result = TokenWaiter<URL?>()

    init(port: Int, path: String) throws {
        self.path = path
        guard let listening = Self.listen(on: port), let url = URL(string: "http://127.0.0.1:\(listening.port)\(path)")
        else {
            throw PipelineError(.oauth(.redirect), "cannot listen on 127.0.0.1, port \(port)")
        }
        listener = listening.descriptor
        self.url = url
    }

    /// Begins to accept connections; must be called at most once.
    func start(state: String) {
        hasStarted.store(true, ordering: .relaxed)
        let thread = Thread { self.serve(state) }
        thread.stackSize = 512 << 10
        thread.start()
    }

    /// Returns the URL that the browser was redirected to; must be called at most once.
    func callback() async throws -> URL {
        guard let url = await result.value(onCancel: { close() }) else { throw CancellationError() }
        return url
    }

    /// Stops, and closes the port within 50 ms.
    func close() {
        guard isClosed.compareExchange(expected: false, desired: true, ordering: .acquiringAndReleasing).exchanged,
            !hasStarted.load(ordering: .relaxed)
        else { return }
        closeDescriptor(listener)
    }

    // MARK: Thread

    private func serve(_ state: String) {
        var connections: [Connection] = []
        var found: URL?
        while found == nil, !isClosed.load(ordering: .acquiring) {
            var waits = ([listener] + connections.map(\.descriptor)).map {
                pollfd(fd: $0, events: Int16(POLLIN), revents: 0)
            }
            let count = poll(&waits, nfds_t(waits.count), 50)
            let now = ContinuousClock.now
            var kept: [Connection] = []
            for (connection, wait) in zip(connections, waits.dropFirst()) {
                var connection = connection
                let isOpen = count <= 0 || wait.revents == 0 || read(&connection)
                if let head = Self.head(of: connection.bytes) {
                    found = found ?? respond(to: head, on: connection.descriptor, state)
                    closeDescriptor(connection.descriptor)
                } else if isOpen, now < connection.end {
                    kept.append(connection)
                } else {
                    closeDescriptor(connection.descriptor)
                }
            }
            connections = kept
            if count > 0, waits[0].revents != 0 { accept(&connections) }
        }
        for connection in connections { closeDescriptor(connection.descriptor) }
        closeDescriptor(listener)
        result.fill(found)
    }

    private func accept(_ connections: inout [Connection]) {
        let descriptor = acceptDescriptor(listener)
        guard descriptor >= 0 else { return }
        Self.prepare(descriptor)
        if connections.count >= Self.connectionCount { closeDescriptor(connections.removeFirst().descriptor) }
        connections.append(Connection(descriptor: descriptor, end: .now + Self.patience))
    }

    /// Reads what has arrived; returns `false` at the end, after an error and at the limit.
    private func read(_ connection: inout Connection) -> Bool {
        var buffer = [UInt8](repeating: 0, count: Self.requestByteCount)
        let count = recv(connection.descriptor, &buffer, buffer.count, 0)
        if count < 0 { return errno == EAGAIN || errno == EINTR }
        connection.bytes += buffer[..<count]
        return count > 0 && connection.bytes.count <= Self.requestByteCount
    }

    /// Returns the request line once the header section is complete.
    private static func head(of bytes: [UInt8]) -> String? {
        guard bytes.count <= requestByteCount, Data(bytes).range(of: Data("\r\n\r\n".utf8)) != nil else { return nil }
        return String(decoding: bytes.prefix { $0 != 0x0d }, as: UTF8.self)
    }

    /// Responds, and returns the URL of the redirect if the request is it.
    private func respond(to line: String, on descriptor: CInt, _ state: String) -> URL? {
        let url = redirect(in: line, state)
        let page = "<!doctype html><meta charset=utf-8><title>Done</title><p>You can close this window.\n"
        let body = url == nil ? "" : page
        let head = [
            url == nil ? "HTTP/1.1 404 Not Found" : "HTTP/1.1 200 OK", "Content-Type: text/html; charset=utf-8",
            "Content-Length: \(body.utf8.count)", "Cache-Control: no-store", "Referrer-Policy: no-referrer",
            "Content-Security-Policy: default-src 'none'", "X-Content-Type-Options: nosniff", "Connection: close",
        ]
        let bytes = Array((head.joined(separator: "\r\n") + "\r\n\r\n" + body).utf8)
        // The response is smaller than the buffer of a new connection, so it is accepted as a whole.
        _ = send(descriptor, bytes, bytes.count, Self.sendFlags)
        shutdown(descriptor, CInt(Self.shutdownWrite))
        return url
    }

    private func redirect(in line: String, _ state: String) -> URL? {
        let words = line.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 3, words[0] == "GET", words[2].hasPrefix("HTTP/1.") else { return nil }
        let target = words[1].split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        guard target.count == 2, target[0] == path else { return nil }
        let states = FormText.items(of: String(target[1])).filter { $0.name == "state" }
        guard states.count == 1, OAuthSecrets.areEqual(states[0].value, state) else { return nil }
        return URL(string: url.absoluteString + "?" + target[1])
    }
}

// MARK: - Sockets

extension LoopbackRedirectReceiver {
    #if canImport(Darwin)
    private static let sendFlags: CInt = 0
    private static let stream = SOCK_STREAM
    #elseif canImport(Musl) || canImport(Android)
    private static let sendFlags = CInt(MSG_NOSIGNAL)
    private static let stream = SOCK_STREAM
    #else
    private static let sendFlags = CInt(MSG_NOSIGNAL)
    private static let stream = CInt(SOCK_STREAM.rawValue)
    #endif
    private static let shutdownWrite = SHUT_WR

    private static func listen(on port: Int) -> (descriptor: CInt, port: Int)? {
        let descriptor = socket(AF_INET, stream, 0)
        guard descriptor >= 0 else { return nil }
        prepare(descriptor)
        // The port of an earlier sign-in may still wait for late packets.
        var isReusable: CInt = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &isReusable, socklen_t(MemoryLayout<CInt>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(truncatingIfNeeded: port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && startListening(descriptor)
                    && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard isListening else {
            closeDescriptor(descriptor)
            return nil
        }
        return (descriptor, Int(UInt16(bigEndian: address.sin_port)))
    }

    private static func prepare(_ descriptor: CInt) {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        #if canImport(Darwin)
        var isOn: CInt = 1
        setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &isOn, socklen_t(MemoryLayout<CInt>.size))
        #endif
    }
}

private func startListening(_ descriptor: CInt) -> Bool { listen(descriptor, 16) == 0 }

private func acceptDescriptor(_ descriptor: CInt) -> CInt { accept(descriptor, nil, nil) }

private func closeDescriptor(_ descriptor: CInt) { _ = close(descriptor) }
