import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// A blocking TCP client.
final class RawClient {
    enum Ending: Equatable {
        case end(String)
        case reset
    }

    private var descriptor: CInt

    init(port: Int, sendBufferByteCount: Int? = nil) throws {
        descriptor = Self.makeSocket()
        if let sendBufferByteCount {
            var count = CInt(sendBufferByteCount)
            setsockopt(descriptor, SOL_SOCKET, SO_SNDBUF, &count, socklen_t(MemoryLayout<CInt>.size))
        }
        guard Self.begin(descriptor, port) == 0 else {
            let error = POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
            hangUp()
            throw error
        }
    }

    /// Returns whether a connection is accepted or refused within so many milliseconds.
    static func connects(to port: Int, within milliseconds: CInt) throws -> Bool {
        let descriptor = makeSocket()
        defer { close(descriptor) }
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        guard begin(descriptor, port) != 0, errno == EINPROGRESS else { return true }
        var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        return poll(&wait, 1, milliseconds) > 0
    }

    private static func makeSocket() -> CInt {
        #if canImport(Glibc)
        socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        #else
        socket(AF_INET, SOCK_STREAM, 0)
        #endif
    }

    private static func begin(_ descriptor: CInt, _ port: Int) -> CInt {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        return withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, length) }
        }
    }

    deinit { hangUp() }

    func hangUp() {
        if descriptor >= 0 { close(descriptor) }
        descriptor = -1
    }

    func send(_ text: String) {
        let bytes = [UInt8](text.utf8)
        _ = write(descriptor, bytes, bytes.count)
    }

    /// Sends until the system accepts no more bytes for 200 ms, and returns how many it accepted.
    func sendUntilFull(limit: Int) -> Int {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        let bytes = [UInt8](repeating: 0, count: 4_096)
        var taken = 0
        while taken < limit {
            var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
            guard poll(&wait, 1, 200) > 0 else { break }
            let count = write(descriptor, bytes, bytes.count)
            if count > 0 { taken += count }
        }
        return taken
    }

    /// Receives all text up to and including the mark, or to the end.
    func receive(until mark: String) -> String {
        var text = ""
        while !text.contains(mark), let bytes = read(), !bytes.isEmpty {
            text += String(decoding: bytes, as: UTF8.self)
        }
        return text
    }

    func receiveToEnd() -> Ending {
        var text = ""
        while let bytes = read() {
            guard !bytes.isEmpty else { return .end(text) }
            text += String(decoding: bytes, as: UTF8.self)
        }
        return .reset
    }

    private func read() -> [UInt8]? {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return count < 0 ? nil : Array(buffer[..<count])
    }
}
