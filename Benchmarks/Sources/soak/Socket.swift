import Foundation

/// Blocking sockets on 127.0.0.1.
enum Socket {
    static func listen() throws -> (descriptor: CInt, port: Int) {
        #if canImport(Darwin)
        let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #else
        let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        #endif
        guard descriptor >= 0 else { throw lastError }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        guard isBound, systemListen(descriptor, 1_024) == 0 else { throw lastError }
        return (descriptor, Int(UInt16(bigEndian: address.sin_port)))
    }

    static func accept(_ listener: CInt) -> CInt? {
        let descriptor = systemAccept(listener, nil, nil)
        guard descriptor >= 0 else { return nil }
        var isOn: CInt = 1
        setsockopt(descriptor, CInt(IPPROTO_TCP), TCP_NODELAY, &isOn, socklen_t(MemoryLayout<CInt>.size))
        return descriptor
    }

    /// Returns the next bytes, empty data at the end, or `nil` if the connection is lost.
    static func receive(_ descriptor: CInt) -> Data? {
        withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 16) { room in
            let count = recv(descriptor, room.baseAddress, room.count, 0)
            return count >= 0 ? Data(room[..<count]) : nil
        }
    }

    static func send(_ descriptor: CInt, _ data: Data) -> Bool {
        data.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = systemWrite(descriptor, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                guard count > 0 else { return false }
                rest = rest.dropFirst(count)
            }
            return true
        }
    }

    /// Makes the socket send a reset when it is closed, instead of an orderly end.
    static func resetOnClose(_ descriptor: CInt) {
        var value = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &value, socklen_t(MemoryLayout<linger>.size))
    }

    static func close(_ descriptor: CInt) { _ = systemClose(descriptor) }

    private static var lastError: POSIXError { POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
}

private func systemListen(_ descriptor: CInt, _ backlog: CInt) -> CInt { listen(descriptor, backlog) }

private func systemAccept(
    _ descriptor: CInt,
    _ address: UnsafeMutablePointer<sockaddr>?,
    _ length: UnsafeMutablePointer<socklen_t>?
) -> CInt {
    accept(descriptor, address, length)
}

private func systemWrite(_ descriptor: CInt, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}

private func systemClose(_ descriptor: CInt) -> CInt { close(descriptor) }
