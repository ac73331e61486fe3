import Foundation

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// A blocking TCP client.
final class RawClient {
    enum Ending: Equatable {
        case end(String)
        case reset
    }

    private var descriptor: CInt

    init(port: Int) throws {
        #if canImport(Glibc)
        descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        #else
        descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, length) }
        }
        guard result == 0 else {
            let error = POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO)
            hangUp()
            throw error
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

    /// All text up to and with the mark, or to the end.
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
