import Foundation

/// Splits the bytes of a connection into requests.
struct LoopbackRequestReader {
    /// The reason that there is no other request.
    enum Failure: Error {
        case end
        case refused(status: Int)

        static let malformed = Failure.refused(status: 400)
        static let tooLarge = Failure.refused(status: 413)
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

    mutating func next() throws(Failure) -> LoopbackServer.Request {
        consumedByteCount = 0
        var lines = try take(upTo: "\r\n\r\n").components(separatedBy: "\r\n")
        let parts = lines.removeFirst().split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 3, parts[2].hasPrefix("HTTP/1."), lines.allSatisfy({ $0.contains(":") }) else {
            throw .malformed
        }
        var request = LoopbackServer.Request(method: String(parts[0]), target: String(parts[1]), headerLines: lines)
        if request.values(of: "Transfer-Encoding").last?.lowercased() == "chunked" {
            request.body = try takeChunks()
        } else if let length = request.values(of: "Content-Length").first {
            guard let count = Int(length), count >= 0 else { throw .malformed }
            request.body = try take(count)
        }
        return request
    }

    private mutating func takeChunks() throws(Failure) -> Data {
        var body = Data()
        while true {
            let line = try take(upTo: "\r\n")
            let size = line.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces)
            guard let count = Int(size, radix: 16), count >= 0 else { throw .malformed }
            guard count > 0 else { break }
            body += try take(count)
            guard try take(2) == Data("\r\n".utf8) else { throw .malformed }
        }
        while try !take(upTo: "\r\n").isEmpty {}
        return body
    }

    private mutating func take(upTo end: String) throws(Failure) -> String {
        let end = Data(end.utf8)
        var searched = 0
        while true {
            if let found = buffer.range(of: end, in: (start + searched)..<buffer.count) {
                let text = String(decoding: buffer[start..<found.lowerBound], as: UTF8.self)
                try drop(found.upperBound - start)
                return text
            }
            searched = max(0, unreadByteCount - end.count + 1)
            try fill()
        }
    }

    private mutating func take(_ count: Int) throws(Failure) -> Data {
        guard count <= limit - consumedByteCount else { throw .tooLarge }
        while unreadByteCount < count { try fill() }
        let bytes = buffer.subdata(in: start..<(start + count))
        try drop(count)
        return bytes
    }

    private mutating func drop(_ count: Int) throws(Failure) {
        consumedByteCount += count
        guard consumedByteCount <= limit else { throw .tooLarge }
        start += count
    }

    private mutating func fill() throws(Failure) {
        guard consumedByteCount + unreadByteCount <= limit else { throw .tooLarge }
        guard let bytes = receive(), !bytes.isEmpty else { throw .end }
        if start > 0 {
            buffer = buffer.subdata(in: start..<buffer.count)
            start = 0
        }
        buffer += bytes
    }
}
