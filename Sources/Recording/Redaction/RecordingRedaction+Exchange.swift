import HTTPTypes
package import PipelineCore

extension RecordingRedaction {
    /// Returns the entry of an exchange whose bodies are decoded from their content codings, without secrets.
    ///
    /// - Parameters:
    ///   - exchange: the exchange; see ``CodedBody``.
    ///   - request: its request, which marks fields as secret.
    /// - Returns: the entry.
    package func entry(_ exchange: RecordedExchange, of request: PipelineRequest) -> HAREntry {
        let redaction = adding(secretQueryNames: request.secretQueryNames)
        return HAREntry(redaction.exchange(exchange, secretFields: request.secretFields))
    }

    /// Redacts a request whose body is decoded from its content coding.
    func request(
        _ request: RecordedExchange.Request,
        secretFields: Set<HTTPField.Name> = []
    ) -> RecordedExchange.Request {
        var request = request
        request.method = values(in: request.method)
        request.url = url(request.url)
        request.body = request.body.map { body($0, contentType: request.contentType) }
        request.headers = fields(request.headers, secretFields: secretFields)
        return request
    }

    /// Redacts an exchange whose bodies are decoded from their content codings.
    func exchange(
        _ exchange: RecordedExchange,
        secretFields: Set<HTTPField.Name> = []
    ) -> RecordedExchange {
        var exchange = exchange
        exchange.request = request(exchange.request, secretFields: secretFields)
        if let failure = exchange.failure { exchange.failure = .init(code: failure.code, text: text(failure.text)) }
        exchange.forwardReason = exchange.forwardReason.map(text)
        exchange.call = exchange.call.map(json)
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
    /// Returns the chunks of a body whose length has changed.
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
