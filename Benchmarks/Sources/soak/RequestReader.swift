import Foundation

/// A reader that splits the bytes of a connection into requests.
///
/// Invalid bytes end it.
struct RequestReader {
    struct Request {
        let target: String
        /// The header fields by lowercase name.
        let fields: [String: String]
        let body: Data
    }

    private let receive: () -> Data?
    private var buffer = Data()

    init(receive: @escaping () -> Data?) { self.receive = receive }

    mutating func next() -> Request? {
        guard let head = take(upTo: "\r\n\r\n") else { return nil }
        var lines = head.components(separatedBy: "\r\n")
        let words = lines.removeFirst().split(separator: " ")
        guard words.count == 3 else { return nil }
        var fields: [String: String] = [:]
        for line in lines {
            let parts = line.split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { continue }
            fields[parts[0].lowercased()] = parts[1].trimmingCharacters(in: .whitespaces)
        }
        let body: Data?
        if fields["transfer-encoding"]?.lowercased() == "chunked" {
            body = takeChunks()
        } else {
            body = take(fields["content-length"].flatMap { Int($0) } ?? 0)
        }
        return body.map { Request(target: String(words[1]), fields: fields, body: $0) }
    }

    private mutating func takeChunks() -> Data? {
        var body = Data()
        while true {
            guard let line = take(upTo: "\r\n"), let count = Int(line, radix: 16), let chunk = take(count) else {
                return nil
            }
            body.append(chunk)
            guard take(upTo: "\r\n") != nil else { return nil }
            if count == 0 { return body }
        }
    }

    private mutating func take(upTo end: String) -> String? {
        let end = Data(end.utf8)
        while true {
            if let range = buffer.range(of: end) {
                defer { buffer = Data(buffer[range.upperBound...]) }
                return String(decoding: buffer[..<range.lowerBound], as: UTF8.self)
            }
            guard fill() else { return nil }
        }
    }

    private mutating func take(_ count: Int) -> Data? {
        while buffer.count < count { guard fill() else { return nil } }
        defer { buffer = Data(buffer.dropFirst(count)) }
        return Data(buffer.prefix(count))
    }

    private mutating func fill() -> Bool {
        guard let data = receive(), !data.isEmpty else { return false }
        buffer.append(data)
        return true
    }
}
