/// The names and values that a user has declared not to be secret.
package struct PlainList: Sendable {
    private var names: Set<String> = []
    private var values: Set<String> = []

    mutating func add(names: Set<String>, values: Set<String>) {
        self.names.formUnion(names.map { $0.lowercased() })
        self.values.formUnion(values)
    }

    /// Returns whether a cookie, a header field or an item of a query or form with this name is not secret.
    func contains(name: some StringProtocol) -> Bool { !names.isEmpty && names.contains(name.lowercased()) }

    func contains(value: Substring) -> Bool { !values.isEmpty && values.contains(String(value)) }
}

extension Redactor {
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
        copy.plain.add(names: plainNames, values: plainValues)
        return copy
    }
}
