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
        let known = secretValues?.values ?? []
        var all = known
        for (index, value) in values.enumerated() {
            let minimum = SecretValues.minimumByteCount
            precondition(
                value.utf8.count >= minimum,
                "secret value \(index) has \(value.utf8.count) bytes, not \(minimum) or more"
            )
            all.insert(value)
        }
        guard all.count > known.count else { return self }
        var copy = self
        copy.secretValues = SecretValues(all)
        return copy
    }

    /// Returns this redactor with names and values that are not secret, although they are in a secret place such as a
    /// cookie.
    ///
    /// In its own place, the value stays hidden. Elsewhere in a recording or a log, it is neither hidden nor reported,
    /// unless it is declared as secret.
    ///
    /// ```swift
    /// let redactor = Redactor.standard.adding(plainNames: ["ui-theme"], plainValues: ["guest-user-1"])
    /// ```
    ///
    /// - Parameters:
    ///   - plainNames: the names of cookies, header fields, query items and form fields; their case is ignored.
    ///   - plainValues: values of any of them, compared exactly.
    /// - Returns: a copy.
    public func adding(plainNames: Set<String> = [], plainValues: Set<String> = []) -> Redactor {
        var copy = self
        copy.plainNames.formUnion(plainNames.map { $0.lowercased() })
        copy.plainValues.formUnion(plainValues)
        return copy
    }

    /// Returns whether a cookie, a header field or an item of a query or form with this name is declared as not secret.
    func isPlain(name: some StringProtocol) -> Bool { !plainNames.isEmpty && plainNames.contains(name.lowercased()) }

    func isPlain(value: Substring) -> Bool { !plainValues.isEmpty && plainValues.contains(String(value)) }

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
}
