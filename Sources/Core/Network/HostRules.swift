/// Settings by host pattern.
package struct HostRules<Value: Sendable>: Sendable {
    /// The most specific pattern first.
    private let rules: [(pattern: HostPattern, value: Value)]

    package init(_ values: [HostPattern: Value]) {
        rules = values.map { ($0.key, $0.value) }.sorted { $0.0.rank > $1.0.rank }
    }

    package var isEmpty: Bool { rules.isEmpty }

    /// The settings, most specific pattern first.
    package var values: [Value] { rules.map(\.value) }

    /// Returns the setting of the most specific pattern that matches a host, or `nil` if none does.
    package func value(for host: String) -> Value? { rules.first { $0.pattern.matches(host) }?.value }
}
