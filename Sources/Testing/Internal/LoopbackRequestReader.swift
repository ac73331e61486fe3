import Foundation

/// Cuts the bytes of a connection into requests.
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
    private var consumedByteCount = 0

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
        let end = Data(end.utf8)
        while true {
            if let range = buffer.range(of: end) {
                let text = String(decoding: buffer[..<range.lowerBound], as: UTF8.self)
                try drop(range.upperBound - buffer.startIndex)
                return text
            }
            try fill()
        }
    }

    private mutating func take(_ count: Int) throws -> Data {
        guard count <= limit - consumedByteCount else { throw Failure.tooLarge }
        while buffer.count < count { try fill() }
        let bytes = Data(buffer.prefix(count))
        try drop(count)
        return bytes
    }

    private mutating func drop(_ count: Int) throws {
        consumedByteCount += count
        guard consumedByteCount <= limit else { throw Failure.tooLarge }
        buffer = Data(buffer.dropFirst(count))
    }

    private mutating func fill() throws {
        guard consumedByteCount + buffer.count <= limit else { throw Failure.tooLarge }
        guard let bytes = receive(), !bytes.isEmpty else { throw Failure.end }
        buffer += bytes
    }
}
