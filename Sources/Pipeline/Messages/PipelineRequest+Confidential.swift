public import HTTPTypes

extension PipelineRequest {
    /// Whether the request cannot be read on the way: it goes over https, or to a loopback address.
    var isConfidential: Bool { head.scheme == "https" || Self.isLoopback(host ?? "") }

    /// Sets a header field that is secret and must not be sent in clear text, replacing all of that name.
    ///
    /// The value stays bound to https, or to a loopback address, until the request is sent: if a plugin or a redirect leads it to http while
    /// any field of that name holds the value, the call fails and nothing is sent.
    ///
    /// - Throws: ``PipelineError`` with code ``PipelineError/Code-swift.struct/invalidRequest(_:)``: `credential` if the request goes over http
    ///   to another machine, `headerValue` as ``setHeader(_:for:isSecret:)-(_,HTTPField.Name,_)``. No error shows the value.
    public mutating func setConfidentialHeader(_ value: String, for name: HTTPField.Name) throws {
        try setHeader(value, for: name, isSecret: true)
        confidentialFields.removeAll { $0.name == name }
        confidentialFields.append(HTTPField(name: name, value: value))
        if let failure = confidentialityFailure { throw failure }
    }

    /// Why the request cannot be sent, `nil` if each confidential value is safe or is no longer there.
    var confidentialityFailure: PipelineError? {
        guard !confidentialFields.isEmpty, !isConfidential else { return nil }
        // A plugin may have added to a field, or another field of its name.
        let leaks = confidentialFields.contains { field in
            headers[values: field.name].contains { $0.contains(field.value) }
        }
        guard leaks else { return nil }
        let reason = "the credential of the request would leave over http, readable on the way"
        return PipelineError(.invalidRequest(.credential), reason)
    }

    private static func isLoopback(_ authority: String) -> Bool {
        let bytes = authority.utf8
        let name =
            bytes.first == UInt8(ascii: "[")
            ? bytes.prefix { $0 != UInt8(ascii: "]") }.dropFirst()
            : bytes.prefix { $0 != UInt8(ascii: ":") }
        let host = Substring(name)
        if host == "localhost" || host.hasSuffix(".localhost") || host == "::1" { return true }
        guard host.hasPrefix("127.") else { return false }
        var rest = host.utf8
        for _ in 0..<3 {
            guard let dot = rest.firstIndex(of: UInt8(ascii: ".")), isByte(rest[..<dot]) else { return false }
            rest = rest[dot...].dropFirst()
        }
        return isByte(rest)
    }

    /// Whether a text is a number of 0 to 255, in digits alone.
    private static func isByte(_ text: Substring.UTF8View) -> Bool {
        text.allSatisfy { (0x30...0x39).contains($0) } && UInt8(Substring(text)) != nil
    }
}
