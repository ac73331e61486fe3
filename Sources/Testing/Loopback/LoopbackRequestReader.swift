import Foundation

/// Splits the bytes of a connection into requests.
struct LoopbackRequestReader {
    enum Outcome {
        case request(LoopbackServer.Request)
        case refused(status: Int)
        case end
    }

    private enum Failure: Error {
        case end
        case malformed
        case tooLarge
    }

    private let limit: Int
    private let receive: () -> Data?
    private var buffer = Data()
    /// The index in ``buffer`` of the first unread byte.
    private var start = 0
    private var consumedByteCount = 0

    private var unreadByteCount: Int { buffer.count - start }

    init(limit: Int, receive: @escaping () -> Data?) {
        self.limit = limit
        self.receive = receive
    }

    mutating func next() -> Outcome {
        do {
            return .request(try read())
        } catch Failure.malformed {
            return .refused(status: 400)
        } catch Failure.tooLarge {
            return .refused(status: 413)
        } catch {
            return .end
        }
    }

    private mutating func read() throws -> LoopbackServer.Request {
        consumedByteCount = 0
        let head = try take(upTo: "\r\n\r\n")
        var lines = head.components(separatedBy: "\r\n")
        let parts = lines.removeFirst().split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[2].hasPrefix("HTTP/1."), lines.allSatisfy({ $0.contains(":") }) else {
            throw Failure.malformed
        }
        let frame = LoopbackServer.Request(
            method: String(parts[0]),
            target: String(parts[1]),
            headerLines: lines,
            body: Data()
        )
        let body: Data
        if frame.values(of: "Transfer-Encoding").last?.lowercased() == "chunked" {
            body = try takeChunks()
        } else if let length = frame.values(of: "Content-Length").first {
            guard let count = Int(length), count >= 0 else { throw Failure.malformed }
            body = try take(count)
        } else {
            body = Data()
        }
        return LoopbackServer.Request(
            method: frame.method,
            target: frame.target,
            headerLines: lines,
            body: body
        )
    }

    private mutating func takeChunks() throws -> Data {
        var body = Data()
        while true {
            let line = try take(upTo: "\r\n")
            let size = line.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces)
            guard let count = Int(size, radix: 16), count >= 0 else { throw Failure.malformed }
            guard count > 0 else { break }
            body += try take(count)
            guard try take(2) == Data("\r\n".utf8) else { throw Failure.malformed }
        }
        while try !take(upTo: "\r\n").isEmpty {}
        return body
    }

    private mutating func take(upTo end: String) throws -> String {
        let end = Array(end.utf8)
        var searched = 0
        while true {
            if let count = position(of: end, from: searched) {
                let text = String(decoding: buffer[start..<(start + count)], as: UTF8.self)
                try drop(count + end.count)
                return text
            }
            searched = max(0, unreadByteCount - end.count + 1)
            try fill()
        }
    }

    /// The number of unread bytes before a sequence of bytes; the search starts at an offset among them.
    private func position(of bytes: [UInt8], from offset: Int) -> Int? {
        buffer.withUnsafeBytes { buffer in
            var index = start + offset
            while index + bytes.count <= buffer.count {
                if buffer[index] == bytes[0], buffer[index..<(index + bytes.count)].elementsEqual(bytes) {
                    return index - start
                }
                index += 1
            }
            return nil
        }
    }

    private mutating func take(_ count: Int) throws -> Data {
        guard count <= limit - consumedByteCount else { throw Failure.tooLarge }
        while unreadByteCount < count { try fill() }
        let bytes = buffer.subdata(in: start..<(start + count))
        try drop(count)
        return bytes
    }

    private mutating func drop(_ count: Int) throws {
        consumedByteCount += count
        guard consumedByteCount <= limit else { throw Failure.tooLarge }
        start += count
    }

    private mutating func fill() throws {
        guard consumedByteCount + unreadByteCount <= limit else { throw Failure.tooLarge }
        guard let bytes = receive(), !bytes.isEmpty else { throw Failure.end }
        if start > 0 {
            buffer = buffer.subdata(in: start..<buffer.count)
            start = 0
        }
        buffer += bytes
    }
}
