package import Foundation
import HTTPTypes
import Pipeline

extension RecordingRedaction {
    /// A body, decoded from its content coding.
    ///
    /// - Parameters:
    ///   - body: the bytes.
    ///   - contentType: the value of Content-Type.
    /// - Returns: the same bytes when nothing in them is secret.
    package func body(_ body: Data, contentType: String?) -> Data {
        self.body(body, contentType, depth: 0)
    }

    /// What is nested deeper is hidden as a whole.
    private static let maximumDepth = 8

    private func body(_ body: Data, _ contentType: String?, depth: Int) -> Data {
        guard !body.isEmpty else { return body }
        let type = MediaType(contentType ?? "")
        if type.essence.hasPrefix("multipart/"), let boundary = Multipart.boundary(in: contentType ?? "") {
            return depth < Self.maximumDepth ? multipart(body, boundary, depth) : Data(Self.placeholder.utf8)
        }
        if let charset = type.charset, charset.hasPrefix("utf-16"),
            let encoding = MediaType.encoding(ofCharset: charset),
            let text = String(data: body, encoding: encoding)
        {
            let shown = self.bytes(Data(text.utf8))
            return shown == Data(text.utf8)
                ? body : String(decoding: shown, as: UTF8.self).data(using: encoding) ?? Data()
        }
        if type.essence == "application/x-www-form-urlencoded", let text = String(data: body, encoding: .utf8) {
            let shown = values(in: self.text(items(text[...], of: .form)))
            return shown == text ? body : Data(shown.utf8)
        }
        return bytes(body)
    }

    /// Bytes that may be text.
    private func bytes(_ bytes: Data) -> Data {
        var shown = bytes
        if !revealsSecrets, String(validating: bytes, as: UTF8.self) != nil,
            let hidden = SecretText.hidden(in: Array(bytes), readsLines: true, isSecret: isSecret)
        {
            shown = Data(hidden)
        }
        return values(in: shown)
    }

    private func multipart(_ body: Data, _ boundary: String, _ depth: Int) -> Data {
        let parts = Multipart(body, boundary: boundary)
        var result = Data()
        var copied = body.startIndex
        for part in parts.parts {
            let content = body[part.content]
            let shown =
                part.name.map { isSecret(name: $0, in: .form) } == true && !content.isEmpty
                ? Data(Self.placeholder.utf8) : self.body(Data(content), part.contentType, depth: depth + 1)
            guard shown != Data(content) else { continue }
            result += body[copied..<part.content.lowerBound] + shown
            copied = part.content.upperBound
        }
        return values(in: result + body[copied...])
    }

    // MARK: Exchanges

    /// A request, whose body is decoded from its content coding.
    func request(
        _ request: RecordedExchange.Request,
        secretFields: Set<HTTPField.Name> = []
    ) -> RecordedExchange.Request {
        var request = request
        request.method = values(in: request.method)
        request.url = url(request.url)
        request.body = request.body.map { body($0, contentType: request.headers[.contentType]) }
        request.headers = fields(request.headers, secretFields: secretFields)
        return request
    }

    /// A whole exchange, whose bodies are decoded from their content codings.
    func exchange(
        _ exchange: RecordedExchange,
        secretFields: Set<HTTPField.Name> = []
    ) -> RecordedExchange {
        var exchange = exchange
        exchange.request = request(exchange.request, secretFields: secretFields)
        if let failure = exchange.failure { exchange.failure = .init(code: failure.code, text: text(failure.text)) }
        if var response = exchange.response {
            response.reasonPhrase = text(response.reasonPhrase)
            let shown = body(response.body, contentType: response.headers[.contentType])
            response.chunks = RecordedExchange.Chunk.scaled(response.chunks, from: response.body.count, to: shown.count)
            response.body = shown
            response.headers = fields(response.headers, secretFields: secretFields)
            exchange.response = response
        }
        return exchange
    }
}

extension RecordedExchange.Chunk {
    /// The same pieces of a body that has become longer or shorter.
    static func scaled(_ chunks: [Self], from oldCount: Int, to newCount: Int) -> [Self] {
        guard oldCount != newCount, oldCount > 0 else { return chunks }
        var read = 0
        var placed = 0
        return chunks.map { chunk in
            read += chunk.byteCount
            let end = read >= oldCount ? newCount : Int(Double(read) / Double(oldCount) * Double(newCount))
            defer { placed = max(placed, end) }
            return Self(byteCount: max(end - placed, 0), delay: chunk.delay)
        }
    }
}
