/// The secret values that the exchanges of a recording hold in their own places, such as a cookie or a secret query item.
struct RecordedSecrets: Sendable {
    /// The least length of a value that is replaced wherever else it stands.
    static let replacedByteCount = 16
    /// The least length of a value that is reported wherever else it stands; what is shorter could be any text.
    static let reportedByteCount = 8

    private var values: Set<String> = []
    private var hosts: Set<String> = []

    init() {}

    init(values: Set<String>, host: String?) {
        self.values = values
        if let host, !host.isEmpty { hosts = [host.lowercased()] }
    }

    mutating func formUnion(_ other: RecordedSecrets) {
        values.formUnion(other.values)
        hosts.formUnion(other.hosts)
    }

    var count: Int { values.count }

    /// Values that are replaced wherever they stand.
    var replaced: Set<String> { values.filter { $0.utf8.count >= Self.replacedByteCount && !isInHost($0) } }

    /// Values that are too short to be replaced, and are reported where they are found outside of their own places.
    var reported: Set<String> {
        values.filter {
            (Self.reportedByteCount..<Self.replacedByteCount).contains($0.utf8.count) && !isInHost($0)
        }
    }

    /// Whether a host holds the value, which everybody on the network can read there.
    private func isInHost(_ value: String) -> Bool {
        let folded = value.lowercased()
        return hosts.contains { $0.contains(folded) }
    }
}
