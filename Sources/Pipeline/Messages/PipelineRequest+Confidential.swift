import HTTPTypes

extension PipelineRequest {
    /// Whether nobody on the way can read it: it goes over https, or to the machine itself.
    public var isConfidential: Bool { head.scheme == "https" || Self.isLoopback(host ?? "") }

    private static func isLoopback(_ authority: String) -> Bool {
        let bytes = authority.utf8
        let name =
            bytes.first == UInt8(ascii: "[")
            ? bytes.prefix { $0 != UInt8(ascii: "]") }.dropFirst()
            : bytes.prefix { $0 != UInt8(ascii: ":") }
        let host = String(Substring(name))
        if host == "localhost" || host.hasSuffix(".localhost") || host == "::1" { return true }
        let numbers = host.split(separator: ".", omittingEmptySubsequences: false)
            .map { $0.utf8.allSatisfy { (0x30...0x39).contains($0) } ? UInt8($0) : nil }
        return numbers.count == 4 && numbers.first == 127 && !numbers.contains(nil)
    }
}
