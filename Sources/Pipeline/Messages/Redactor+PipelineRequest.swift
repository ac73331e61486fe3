public import HTTPTypes

extension Redactor {
    /// The URL of a request for people.
    public func url(of request: PipelineRequest) -> String {
        url("\(request.head.scheme ?? "")://\(request.head.authority ?? "")\(request.head.path ?? "")")
    }

    /// This redactor, with the secrets of a request hidden wherever they occur.
    ///
    /// For what belongs to the request: a server may send a token back in the body, or in the URL of a redirect. Values are taken
    /// from the fields for which ``PipelineRequest/isSecret(_:)`` holds, from fields and query items whose names ``secretNames`` covers and
    /// that this redactor does not show, and from each cookie. Authentication schemes are left out; with Basic the password counts as well. Values
    /// under 8 bytes are left out because they could be any word, and so are words, dates, hosts and paths in the query.
    ///
    /// The copy keeps the request with its body. It collects the values when a text may hold one of them.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - answer: the header fields of its response, whose cookies are secret as well.
    /// - Returns: a copy; ``revealingSecrets`` stays as it is.
    public func adding(secretsOf request: PipelineRequest, answer: HTTPFields = [:]) -> Redactor {
        adding(secretsOf: [request], answer: answer)
    }

    /// This redactor, with the secrets of several requests of a call hidden wherever they occur.
    public func adding(secretsOf requests: [PipelineRequest], answer: HTTPFields = [:]) -> Redactor {
        adding(secretsOf: RequestSecrets(requests: requests, answer: answer))
    }
}

private struct RequestSecrets: SecretSource {
    let requests: [PipelineRequest]
    let answer: HTTPFields

    func insert(into secrets: inout MessageSecrets) {
        for request in requests { secrets.insert(request.head) { request.isSecret($0) } }
        secrets.insert(cookiesOf: answer)
    }
}
