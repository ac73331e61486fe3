import PipelineCore

/// The secret values that the exchanges of a recording have in their own places, such as a cookie or a secret query
/// item.
package struct RecordedSecrets: Sendable {
    /// The minimum length of a value that is replaced everywhere else, in bytes.
    static let replacedByteCount = 16
    /// The minimum length of a value that is reported if found elsewhere, in bytes.
    ///
    /// A shorter value could be any text.
    static let reportedByteCount = 8

    private var values: [String: SecretOrigin] = [:]
    private var hosts: Set<String> = []

    package init() {}

    init(values: [String: SecretOrigin], host: String?) {
        self.values = values
        if let host, !host.isEmpty { hosts = [host.lowercased()] }
    }

    package mutating func formUnion(_ other: RecordedSecrets) {
        values.merge(other.values) { first, _ in first }
        hosts.formUnion(other.hosts)
    }

    package var count: Int { values.count }

    /// Adds the secrets of an exchange, and returns the values to replace in it.
    ///
    /// Searching for more than 256 values would take longer than the exchange; beyond them, returns only its own.
    mutating func adding(_ own: RecordedSecrets) -> Set<String> {
        formUnion(own)
        return values.count <= Self.searchedCount ? replaced : own.replaced
    }

    private static let searchedCount = 256

    /// The values that are replaced everywhere.
    package var replaced: Set<String> {
        Set(values.keys.filter { $0.utf8.count >= Self.replacedByteCount && !isInHost($0) })
    }

    /// The values that are too short to be replaced.
    ///
    /// They are reported if found outside of their own places.
    var reported: Set<String> {
        Set(
            values.keys.filter {
                (Self.reportedByteCount..<Self.replacedByteCount).contains($0.utf8.count) && !isInHost($0)
            }
        )
    }

    /// Returns the place of a value.
    func origin(of value: String) -> SecretOrigin? { values[value] }

    /// Returns whether a host contains the value, where it is visible on the network anyway.
    private func isInHost(_ value: String) -> Bool {
        let folded = value.lowercased()
        return hosts.contains { $0.contains(folded) }
    }
}
