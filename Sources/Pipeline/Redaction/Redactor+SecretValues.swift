public import HTTPTypes

extension Redactor {
    /// This redactor, with more values hidden wherever they stand.
    ///
    /// ```swift
    /// let redactor = Redactor.standard.adding(secretValues: [apiKey, clientSecret])
    /// ```
    ///
    /// - Parameter values: the values, of 4 bytes or more each.
    /// - Returns: a copy; with ``revealingSecrets`` one that hides these values and what that hides.
    public func adding(secretValues values: some Sequence<String>) -> Redactor {
        let added = Self.checked(values).subtracting(secretValues?.values ?? [])
        guard !added.isEmpty else { return self }
        var copy = self
        copy.secretValues = SecretValues(added.union(secretValues?.values ?? []))
        return copy
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
        for request in requests { values.formUnion(MessageSecrets.values(of: request)) }
        values.formUnion(MessageSecrets.values(ofCookiesIn: answer))
        return adding(secretValues: values)
    }

    /// Any text for people, such as the description of an error, with the declared values hidden.
    ///
    /// The rules for header fields, URLs and bodies do not hold here, only the values.
    public func text(_ text: String) -> String {
        secretValues?.hiding(in: text) ?? text
    }

    /// Whether bytes hold one of the declared values in any of its forms.
    ///
    /// For tests and for who writes files: what was redacted holds none.
    public func containsSecret(in bytes: some Collection<UInt8>) -> Bool {
        guard let secretValues else { return false }
        return bytes.withContiguousStorageIfAvailable(secretValues.isFound)
            ?? Array(bytes).withUnsafeBufferPointer(secretValues.isFound)
    }

    static func checked(_ values: some Sequence<String>) -> Set<String> {
        var result: Set<String> = []
        for (index, value) in values.enumerated() {
            let minimum = SecretValues.minimumByteCount
            precondition(
                value.utf8.count >= minimum,
                "secret value \(index) has \(value.utf8.count) bytes, not \(minimum) or more"
            )
            result.insert(value)
        }
        return result
    }
}
