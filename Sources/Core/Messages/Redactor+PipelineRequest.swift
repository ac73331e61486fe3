public import HTTPTypes

extension Redactor {
    /// Returns the URL of a request with this redactor applied.
    public func url(of request: PipelineRequest) -> String {
        adding(secretQueryNames: request.secretQueryNames)
            .url("\(request.head.scheme ?? "")://\(request.head.authority ?? "")\(request.head.path ?? "")")
    }

    /// Returns a copy of this redactor that also hides the secrets of a request wherever they occur.
    ///
    /// Use it for texts that belong to the request: a server may return a token in the body or in the URL of a
    /// redirect. The copy hides the values of:
    ///
    /// - fields for which ``PipelineRequest/isSecret(_:)`` returns `true`
    /// - query items in ``PipelineRequest/secretQueryNames``
    /// - fields and query items whose names ``secretNames`` covers, unless this redactor shows them
    /// - parts of these header fields that could be signatures: 27 or more letters, digits, `+`, `/` and `=`
    /// - pairs of URL-encoded forms whose names ``secretNames`` covers, if the value has 16 bytes or more
    /// - cookies, including those in `answer`, which takes the header fields of the response
    ///
    /// Authentication schemes are not hidden; with Basic, the password is hidden on its own as well. Values of less
    /// than 8 bytes are not hidden, because they could be any word. Neither are words, dates, hosts and paths in the
    /// query.
    ///
    /// The copy keeps the request and its body. It collects the values only when a text may contain one of them.
    ///
    /// - Returns: the copy; ``revealingSecrets`` is returned unchanged.
    public func adding(secretsOf request: PipelineRequest, answer: HTTPFields = [:]) -> Redactor {
        adding(secretsOf: [request], answer: answer)
    }

    /// Returns a copy of this redactor that also hides the secrets of several requests of a call wherever they occur.
    public func adding(secretsOf requests: [PipelineRequest], answer: HTTPFields = [:]) -> Redactor {
        adding(secretsOf: RequestSecrets(requests: requests, answer: answer))
    }
}

private struct RequestSecrets: SecretSource {
    let requests: [PipelineRequest]
    let answer: HTTPFields

    func insert(into secrets: inout MessageSecrets) {
        for request in requests {
            secrets.insert(request.head, queryNames: request.secretQueryNames) { request.isSecret($0) }
            secrets.insert(formIn: request.body.bytes, contentType: request.headers[.contentType])
        }
        secrets.insert(cookiesOf: answer)
    }
}
