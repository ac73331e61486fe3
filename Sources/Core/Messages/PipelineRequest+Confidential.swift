public import HTTPTypes

extension PipelineRequest {
    /// Whether the request cannot be read in transit: it uses https or goes to a loopback address.
    var isConfidential: Bool { head.scheme == "https" || isToLoopback }

    /// Whether the request goes to a loopback address.
    public var isToLoopback: Bool { Self.isLoopback(host ?? "") }

    /// Sets a secret header field that must not be sent in clear text, replacing all fields of that name.
    ///
    /// The value may be sent only over https or to a loopback address. If a plugin or a redirect changes the request to
    /// http while a field of that name holds the value, the call fails and nothing is sent.
    ///
    /// - Throws: ``PipelineError`` with code ``PipelineError/Code-swift.struct/invalidRequest(_:)``: `credential` if
    ///   the request goes over http to another machine, `headerValue` as in
    ///   ``setHeader(_:for:isSecret:)-(_,HTTPField.Name,_)``. No error shows the value.
    public mutating func setConfidentialHeader(_ value: String, for name: HTTPField.Name) throws {
        try setHeader(value, for: name, isSecret: true)
        confidentialFields.removeAll { $0.name == name }
        confidentialFields.append(HTTPField(name: name, value: value))
        if let failure = confidentialityFailure { throw failure }
    }

    /// Why the request must not be sent; `nil` if each confidential value is protected or has been removed.
    var confidentialityFailure: PipelineError? {
        guard !confidentialFields.isEmpty, !isConfidential else { return nil }
        // A plugin may have extended the value or added another field of that name.
        let leaks = confidentialFields.contains { field in
            headers[values: field.name].contains { $0.contains(field.value) }
        }
        guard leaks else { return nil }
        let reason = "the credential of the request would leave over http, readable on the way"
        return PipelineError(.invalidRequest(.credential), reason)
    }

    private static func isLoopback(_ authority: String) -> Bool {
        authority.withBytes { bytes in
            let isLiteral = bytes.first == UInt8(ascii: "[")
            let end = bytes.firstOffset { $0 == (isLiteral ? UInt8(ascii: "]") : UInt8(ascii: ":")) }
            let host = bytes[(isLiteral ? 1 : 0)..<end]
            return host.elementsEqual("localhost".utf8) || host.suffix(10).elementsEqual(".localhost".utf8)
                || host.elementsEqual("::1".utf8) || isLoopbackAddress(host)
        }
    }

    /// Returns whether a text is 127 and three more numbers from 0 to 255, separated by periods.
    private static func isLoopbackAddress(_ host: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        guard host.starts(with: "127.".utf8) else { return false }
        var dotCount = 0
        var number: Int?
        for byte in host {
            if byte == UInt8(ascii: ".") {
                guard number.take() != nil else { return false }
                dotCount += 1
            } else {
                guard ByteSet.digits.contains(byte) else { return false }
                let next = (number ?? 0) * 10 + Int(byte - UInt8(ascii: "0"))
                guard next <= 255 else { return false }
                number = next
            }
        }
        return dotCount == 3 && number != nil
    }
}
