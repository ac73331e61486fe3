extension Redactor {
    /// Returns this redactor with more values that are hidden wherever they occur.
    ///
    /// ```swift
    /// let redactor = Redactor.standard.adding(secretValues: [apiKey, clientSecret])
    /// ```
    ///
    /// - Parameter values: the values, of 4 bytes or more each.
    /// - Returns: a copy; for ``revealingSecrets``, one that hides these values in addition.
    public func adding(secretValues values: some Sequence<String>) -> Redactor {
        let added = Self.checked(values).subtracting(secretValues?.values ?? [])
        guard !added.isEmpty else { return self }
        var copy = self
        copy.secretValues = SecretValues(added.union(secretValues?.values ?? []))
        return copy
    }

    /// Returns this redactor with the secrets of messages hidden wherever they occur.
    package func adding(secretsOf source: some SecretSource) -> Redactor {
        guard !revealsSecrets, let pending = PendingSecrets(self, source) else { return self }
        var copy = self
        copy.pending = pending
        return copy
    }

    /// Returns any text for people, such as the description of an error, with the declared values hidden.
    ///
    /// The rules for header fields, URLs and bodies do not apply here.
    public func text(_ text: String) -> String {
        guard text.withBytes(mayHoldSecret) else { return text }
        return secretValues?.hiding(in: text) ?? text
    }

    /// Returns whether bytes contain one of the declared values in any of its forms.
    ///
    /// For tests and for code that writes files: redacted text contains none.
    public func containsSecret(in bytes: some Collection<UInt8>) -> Bool {
        bytes.withContiguousStorageIfAvailable(isFound) ?? Array(bytes).withUnsafeBufferPointer(isFound)
    }

    func isFound(in text: UnsafeBufferPointer<UInt8>) -> Bool {
        mayHoldSecret(text) && secretValues?.isFound(in: text) == true
    }

    /// Returns `false` only if a text contains none of the values; `true` if it may contain one.
    private func mayHoldSecret(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard text.count >= SecretValues.minimumByteCount else { return false }
        if let pending { return pending.mayBeFound(in: text) }
        return declaredValues != nil
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
