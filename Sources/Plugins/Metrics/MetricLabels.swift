#if Metrics
import HTTPTypes
import Pipeline

/// The values of labels: pure functions with low cardinality.
struct MetricLabels: Sendable {
    /// The value that replaces all values beyond the limit.
    static let other = "other"
    static let none = "none"

    let showsStatusCode: Bool

    /// Returns the status or its class, and `other` for a number that is not an HTTP status.
    func status(_ code: Int?) -> String {
        guard let code else { return Self.none }
        guard (100...599).contains(code) else { return Self.other }
        return showsStatusCode ? "\(code)" : "\(code / 100)xx"
    }

    /// Returns the kind of failure: a code of this package without its detail, or `other` for a code defined by a
    /// plugin.
    static func outcome(_ code: PipelineError.Code) -> String {
        let name = String(code.rawValue.prefix { $0 != "." })
        return names.contains(name) ? name : other
    }

    static let success = "success"

    private static let names: Set<String> = [
        "timeout", "cancelled", "connect", "connectionLost", "dns", "tls", "offline", "transport", "truncated",
        "malformedResponse", "contentCoding", "unacceptableStatus", "limit", "redirect", "invalidRequest", "encoding",
        "mapping", "plugin", "bodyConsumed", "bodyChanged", "file", "stubWithoutTransport", "clientClosed",
        "unknownEnvironment", "tokenRefresh", "excessiveRefresh", "sessionEnded", "pagination", "recording",
    ]
}

/// A limited number of distinct names, and one name for all others.
struct BoundedNames: Sendable {
    private var names: Set<String> = []
    private let maximumCount: Int

    init(maximumCount: Int) {
        self.maximumCount = maximumCount
    }

    /// Returns the name if it is among the first ones, otherwise ``MetricLabels/other``.
    mutating func bounded(_ name: String) -> String {
        if names.contains(name) { return name }
        guard names.count < maximumCount else { return MetricLabels.other }
        names.insert(name)
        return name
    }
}
#endif
