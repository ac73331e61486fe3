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

/// A non-blocking socket whose waits also end when the server stops.
struct LoopbackSocket: Sendable {
    static let readable = Int16(POLLIN)
    static let writable = Int16(POLLOUT)

    let descriptor: CInt
    private let wakeReader: CInt

    static var lastError: POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }

    /// Listens on a port of 127.0.0.1 that the system chooses.
    static func listening(
        wakeReader: CInt = -1,
        backlog: CInt = 256,
        receiveBufferByteCount: Int? = nil
    ) throws -> (LoopbackSocket, port: Int) {
        let (listener, port) = try bound(wakeReader: wakeReader)
        if let receiveBufferByteCount {
            // Accepted connections inherit it; setting it after `accept` would be too late for the first window.
            var count = CInt(clamping: receiveBufferByteCount)
            setsockopt(listener.descriptor, SOL_SOCKET, SO_RCVBUF, &count, socklen_t(MemoryLayout<CInt>.size))
        }
        try listener.require(listen(listener.descriptor, backlog) == 0)
        return (listener, port)
    }

    /// Reserves a port of 127.0.0.1 that the system chooses.
    static func bound(wakeReader: CInt = -1) throws -> (LoopbackSocket, port: Int) {
        let taken = try make(wakeReader: wakeReader)
        var address = address(port: 0)
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(taken.descriptor, $0, length) == 0 && getsockname(taken.descriptor, $0, &length) == 0
            }
        }
        try taken.require(isBound)
        return (taken, Int(UInt16(bigEndian: address.sin_port)))
    }

    /// Starts to connect to a port of 127.0.0.1 without waiting for the connection.
    static func connecting(to port: Int) throws -> LoopbackSocket {
        let client = try make(wakeReader: -1)
        var address = address(port: port)
        let isBegun = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connectDescriptor(client.descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
                    || errno == EINPROGRESS
            }
        }
        try client.require(isBegun)
        return client
    }

    private static func make(wakeReader: CInt) throws -> LoopbackSocket {
        #if canImport(Darwin)
        let type = SOCK_STREAM
        #elseif canImport(Musl) || canImport(Android)
        let type = SOCK_STREAM | SOCK_CLOEXEC
        #else
        let type = CInt(SOCK_STREAM.rawValue) | CInt(SOCK_CLOEXEC.rawValue)
        #endif
        let descriptor = socket(AF_INET, type, 0)
        guard descriptor >= 0 else { throw lastError }
        let made = LoopbackSocket(descriptor: descriptor, wakeReader: wakeReader)
        made.prepare()
        return made
    }

    private static func address(port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(truncatingIfNeeded: port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        return address
    }

    func accept() -> LoopbackSocket? {
        let accepted = acceptDescriptor(descriptor)
        guard accepted >= 0 else { return nil }
        let connection = LoopbackSocket(descriptor: accepted, wakeReader: wakeReader)
        connection.prepare()
        return connection
    }

    /// Returns `false` if the server stops or the time is over.
    func waitUntilReady(for events: Int16, within milliseconds: CInt = -1) -> Bool {
        var waits = [
            pollfd(fd: descriptor, events: events, revents: 0),
            pollfd(fd: wakeReader, events: Self.readable, revents: 0),
        ]
        while true {
            let count = poll(&waits, 2, milliseconds)
            if count >= 0 { return count > 0 && waits[1].revents == 0 }
            guard errno == EINTR else { return false }
        }
    }

    /// Returns the next bytes, none at the end of the stream, `nil` if the connection is lost or the server stops.
    func receive() -> Data? {
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while waitUntilReady(for: Self.readable) {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            if count >= 0 { return Data(buffer[..<count]) }
            guard errno == EAGAIN || errno == EINTR else { return nil }
        }
        return nil
    }

    /// Returns whether the system accepted all bytes.
    func send(_ bytes: Data) -> Bool {
        #if canImport(Darwin)
        let flags: CInt = 0
        #else
        let flags = CInt(MSG_NOSIGNAL)
        #endif
        var rest = [UInt8](bytes)[...]
        while !rest.isEmpty {
            guard waitUntilReady(for: Self.writable) else { return false }
            let count = rest.withUnsafeBytes { sendBytes(descriptor, $0, flags) }
            if count >= 0 {
                rest = rest.dropFirst(count)
            } else if errno != EAGAIN, errno != EINTR {
                return false
            }
        }
        return true
    }

    /// Makes closing the socket send a reset.
    func resetOnClose() {
        var value = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &value, socklen_t(MemoryLayout<linger>.size))
    }

    func close() {
        closeDescriptor(descriptor)
    }

    static func makePipe() throws -> (reader: CInt, writer: CInt) {
        var ends: [CInt] = [-1, -1]
        guard pipe(&ends) == 0 else { throw lastError }
        return (ends[0], ends[1])
    }

    /// Closes the socket and throws the last error unless a call has succeeded.
    private func require(_ hasSucceeded: Bool) throws {
        guard !hasSucceeded else { return }
        let error = Self.lastError
        close()
        throw error
    }

    private func prepare() {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        #if canImport(Darwin)
        var isOn: CInt = 1
        setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &isOn, socklen_t(MemoryLayout<CInt>.size))
        #endif
    }
}

// Within the type, its own methods hide the functions of the system.

private func acceptDescriptor(_ descriptor: CInt) -> CInt {
    accept(descriptor, nil, nil)
}

private func sendBytes(_ descriptor: CInt, _ bytes: UnsafeRawBufferPointer, _ flags: CInt) -> Int {
    bytes.baseAddress.map { send(descriptor, $0, bytes.count, flags) } ?? 0
}

private func connectDescriptor(_ descriptor: CInt, _ address: UnsafePointer<sockaddr>, _ length: socklen_t) -> CInt {
    connect(descriptor, address, length)
}

func closeDescriptor(_ descriptor: CInt) {
    _ = close(descriptor)
}
