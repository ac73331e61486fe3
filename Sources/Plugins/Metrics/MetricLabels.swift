#if Metrics
import HTTPTypes
import Pipeline

/// What stands in labels: pure functions with few different values.
struct MetricLabels: Sendable {
    /// What a value is called that one too many has come before.
    static let other = "other"
    static let none = "none"

    let showsStatusCode: Bool

    /// The status, or its class; what is no status counts as `other`.
    func status(_ code: Int?) -> String {
        guard let code else { return Self.none }
        guard (100...599).contains(code) else { return Self.other }
        return showsStatusCode ? "\(code)" : "\(code / 100)xx"
    }

    /// The kind of a failure: the codes of this package without their detail, `other` for those that plugins made.
    static func outcome(_ code: PipelineError.Code) -> String {
        let name = String(code.rawValue.prefix { $0 != "." })
        return names.contains(name) ? name : other
    }

    static let success = "success"

    private static let names: Set<String> = [
        "timeout", "cancelled", "connect", "connectionLost", "dns", "tls", "offline", "transport", "truncated",
        "malformedResponse", "contentCoding", "unacceptableStatus", "limit", "redirect", "invalidRequest", "encoding",
        "mapping", "plugin", "bodyConsumed", "bodyChanged", "file", "stubWithoutTransport", "clientClosed",
        "unknownEnvironment",
    ]
}

/// The first so many different values, and one name for all others.
struct BoundedNames: Sendable {
    private var names: Set<String> = []
    private let maximumCount: Int

    init(maximumCount: Int) {
        self.maximumCount = maximumCount
    }

    /// The name itself when it is one of the first, else ``MetricLabels/other``.
    mutating func bounded(_ name: String) -> String {
        if names.contains(name) { return name }
        guard names.count < maximumCount else { return MetricLabels.other }
        names.insert(name)
        return name
    }
}
#endif
