public import HTTPTypes

extension Redactor {
    /// The URL of a request for people.
    public func url(of request: PipelineRequest) -> String {
        url("\(request.head.scheme ?? "")://\(request.head.authority ?? "")\(request.head.path ?? "")")
    }

    /// This redactor, with what the secret fields of a request hold hidden wherever it stands.
    ///
    /// For what belongs to the request: a server may send a token back in the body, or in the URL of a redirect. Values are taken
    /// from the fields for which ``PipelineRequest/isSecret(_:)`` holds, of Cookie and Set-Cookie one by one, without the name
    /// of an authentication scheme; with Basic the password too. Those under 8 bytes are left out: they could be any word.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - answer: the header fields of its answer, whose cookies are secret as well.
    /// - Returns: a copy; ``revealingSecrets`` stays as it is.
    public func adding(secretsOf request: PipelineRequest, answer: HTTPFields = [:]) -> Redactor {
        adding(secretsOf: [request], answer: answer)
    }

    /// This redactor, with what the secret fields of several requests of a call hold hidden wherever it stands.
    public func adding(secretsOf requests: [PipelineRequest], answer: HTTPFields = [:]) -> Redactor {
        if revealsSecrets { return self }
        var values: Set<String> = []
        for request in requests {
            values.formUnion(MessageSecrets.values(of: request.headers, where: request.isSecret))
        }
        values.formUnion(MessageSecrets.values(ofCookiesIn: answer))
        return adding(secretValues: values)
    }
}
