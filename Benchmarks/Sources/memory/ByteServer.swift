import Foundation
import Synchronization

/// A server that generates the bytes it sends and discards those it receives, in a process whose memory is not counted.
///
/// Each connection has a thread. The process ends with its parent process, or after ten minutes.
///
/// | request | what happens |
/// |---|---|
/// | `GET /send/N` | N bytes |
/// | `GET /gzip` | zeros in gzip without compression, until the connection ends |
/// | `POST /count/N/P` | counts the body, with P pauses of 1 s within N bytes, and responds with the count |
enum ByteServer {
    static func run() throws {
        signal(SIGPIPE, SIG_IGN)
        alarm(600)
        Thread.detachNewThread {
            var byte: UInt8 = 0
            while read(STDIN_FILENO, &byte, 1) > 0 {}
            exit(0)
        }
        let listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(listener, $0, length) == 0 && listen(listener, 64) == 0
                    && getsockname(listener, $0, &length) == 0
            }
        }
        guard isListening else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .EIO) }
        print(UInt16(bigEndian: address.sin_port))
        fflush(nil)
        while true {
            let connection = accept(listener, nil, nil)
            guard connection >= 0 else { continue }
            Thread.detachNewThread {
                var connection = ByteConnection(descriptor: connection)
                while connection.serve() {}
                connection.close()
            }
        }
    }
}

/// A connection that serves one request after another.
struct ByteConnection {
    private let descriptor: CInt
    /// The bytes received last; `unread` is the range that has not been consumed.
    private var buffer = [UInt8](repeating: 0, count: 256 << 10)
    private var unread = 0..<0

    init(descriptor: CInt) { self.descriptor = descriptor }

    func close() { _ = Glibc.close(descriptor) }

    /// Serves a request and returns whether the connection stays open.
    mutating func serve() -> Bool {
        guard let head = readHead() else { return false }
        let target = head.split(separator: " ", maxSplits: 2).dropFirst().first ?? ""
        let words = target.split(separator: "/")
        let numbers = words.dropFirst().compactMap { Int($0) }
        switch words.first {
        case "send" where numbers.count == 1: return answer(numbers[0])
        case "gzip": return sendGzip()
        case "count" where numbers.count == 2: return count(head, numbers[0], pauses: numbers[1])
        default: return send("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n") && false
        }
    }

    private func answer(_ byteCount: Int) -> Bool {
        let block = [UInt8](repeating: 1, count: 256 << 10)
        var rest = byteCount
        guard send("HTTP/1.1 200 OK\r\nContent-Length: \(byteCount)\r\n\r\n") else { return false }
        while rest > 0 {
            guard send(block[..<min(rest, block.count)]) else { return false }
            rest -= min(rest, block.count)
        }
        return true
    }

    /// Sends stored blocks, so that as many bytes pass over the network as the decoder produces.
    private func sendGzip() -> Bool {
        let count = 65_535
        let block = [0, 0xff, 0xff, 0, 0] + [UInt8](repeating: 0, count: count)
        guard send("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nConnection: close\r\n\r\n"),
            send([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3])
        else { return false }
        while send(block[...]) {}
        return false
    }

    private mutating func count(_ head: String, _ byteCount: Int, pauses: Int) -> Bool {
        let fields = head.lowercased()
        if fields.contains("\r\nexpect: 100-continue"), !send("HTTP/1.1 100 Continue\r\n\r\n") { return false }
        let length = fields.firstRange(of: "\r\ncontent-length: ").map {
            fields[$0.upperBound...].prefix(while: \.isNumber)
        }
        var counter = BodyCounter(byteCount: length.flatMap { Int($0) })
        let step = byteCount / (pauses + 1)
        var pauseCount = 0
        while true {
            let taken = buffer.withUnsafeBytes { counter.take($0[unread]) }
            unread = (unread.lowerBound + taken)..<unread.upperBound
            if counter.isComplete { break }
            if pauseCount < pauses, counter.count > step * (pauseCount + 1) {
                pauseCount += 1
                sleep(1)
            }
            guard receive() else { return false }
        }
        let text = "\(counter.count)"
        return send("HTTP/1.1 200 OK\r\nContent-Length: \(text.utf8.count)\r\n\r\n\(text)")
    }

    private mutating func readHead() -> String? {
        var head: [UInt8] = []
        while true {
            while let index = unread.first {
                head.append(buffer[index])
                unread.removeFirst()
                if head.suffix(4) == [13, 10, 13, 10] { return String(decoding: head, as: UTF8.self) }
            }
            guard head.count < 64 << 10, receive() else { return nil }
        }
    }

    /// Must be called only after all received bytes have been consumed.
    private mutating func receive() -> Bool {
        let count = recv(descriptor, &buffer, buffer.count, 0)
        unread = 0..<max(0, count)
        return count > 0
    }

    private func send(_ text: String) -> Bool { send(Array(text.utf8)[...]) }

    private func send(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.withUnsafeBytes { bytes in
            var offset = 0
            while offset < bytes.count {
                let count = Glibc.send(descriptor, bytes.baseAddress?.advanced(by: offset), bytes.count - offset, 0)
                guard count > 0 else { return false }
                offset += count
            }
            return true
        }
    }
}

/// A counter for the bytes of a body with a Content-Length or in chunks.
struct BodyCounter {
    private enum Step {
        case data(Int)
        /// The size of a chunk, as far as it has been read.
        case size(Int?)
        case last
        case end
    }

    private(set) var count = 0
    private let isChunked: Bool
    private var step: Step

    /// - Parameter byteCount: the Content-Length; `nil` for a chunked body.
    init(byteCount: Int?) {
        isChunked = byteCount == nil
        step = byteCount.map { .data($0) } ?? .size(nil)
    }

    var isComplete: Bool {
        switch step {
        case .data(0): !isChunked
        case .end: true
        default: false
        }
    }

    /// Returns how many of the bytes belong to the body and its framing.
    mutating func take(_ bytes: Slice<UnsafeRawBufferPointer>) -> Int {
        var offset = bytes.startIndex
        while offset < bytes.endIndex, !isComplete {
            if case .data(let rest) = step, rest > 0 {
                let taken = min(rest, bytes.endIndex - offset)
                count += taken
                offset += taken
                step = rest == taken && isChunked ? .size(nil) : .data(rest - taken)
                continue
            }
            takeFraming(bytes[offset])
            offset += 1
        }
        return offset - bytes.startIndex
    }

    private mutating func takeFraming(_ byte: UInt8) {
        switch (step, byte) {
        case (.last, UInt8(ascii: "\n")): step = .end
        case (.size(let size?), UInt8(ascii: "\n")): step = size == 0 ? .last : .data(size)
        case (.size(let size), _):
            guard let digit = Character(UnicodeScalar(byte)).hexDigitValue else { return }
            step = .size((size ?? 0) * 16 + digit)
        default: break
        }
    }
}
