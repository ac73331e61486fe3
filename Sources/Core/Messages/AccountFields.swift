public import HTTPTypes

/// What header fields of requests say about the account that makes them.
///
/// A plugin that shares or stores responses compares what it sees of a request. It must not share a response to a
/// request that got a field further inside that may name an account, see
/// ``PipelineContext/mayNameAccount(_:otherThan:ignoringCredentials:)``.
public enum AccountFields {
    /// Returns whether a field of a request carries a credential.
    public static func isCredential(_ name: HTTPField.Name, of request: PipelineRequest) -> Bool {
        name == .authorization || name == .proxyAuthorization || name == .cookie
            || request.isSecret(name) && !traceFields.contains(name.canonicalName)
    }

    /// Returns whether a field names an account or a group of accounts by its name, such as `X-User`.
    public static func namesAccount(_ name: HTTPField.Name) -> Bool {
        mayNameAccount(name) && !words.isDisjoint(with: name.canonicalName.split(separator: "-"))
    }

    /// Returns whether a field may name an account: `false` for fields that describe the message, the wish for a
    /// representation, or the exchange, such as Accept or traceparent.
    public static func mayNameAccount(_ name: HTTPField.Name) -> Bool { !impersonal.contains(name.canonicalName) }

    /// The words in names of fields that name an account.
    private static let words: Set<Substring> = [
        "account", "actor", "customer", "email", "group", "identity", "impersonate", "login", "member", "org",
        "organisation", "organization", "owner", "patient", "person", "principal", "profile", "role", "session",
        "subject", "team", "tenant", "uid", "user", "userid", "username", "workspace",
    ]

    /// The fields that carry a trace, which are secret for other origins, but no credentials.
    private static let traceFields: Set<String> = [
        "baggage", "elastic-apm-traceparent", "newrelic", "sentry-trace", "traceparent", "tracestate",
        "x-datadog-origin", "x-datadog-parent-id", "x-datadog-sampling-priority", "x-datadog-tags",
        "x-datadog-trace-id", "b3", "x-b3-traceid", "x-b3-spanid", "x-b3-parentspanid", "x-b3-sampled", "x-b3-flags",
        "uber-trace-id", "x-amzn-trace-id", "x-cloud-trace-context",
    ]

    /// The fields that describe the message, the wish for a representation, or the exchange, not who asks.
    private static let impersonal = traceFields.union([
        "accept", "accept-charset", "accept-encoding", "accept-language", "cache-control", "connection",
        "content-digest", "content-disposition", "content-encoding", "content-language", "content-length",
        "content-location", "content-type", "date", "digest", "early-data", "expect", "host", "idempotency-key",
        "if-match", "if-modified-since", "if-none-match", "if-range", "if-unmodified-since", "max-forwards", "origin",
        "pragma", "prefer", "priority", "range", "referer", "repr-digest", "te", "trailer", "transfer-encoding",
        "upgrade", "user-agent", "via", "want-content-digest",
        "want-repr-digest", "x-correlation-id", "x-request-id",
    ])
}

extension PipelineContext {
    /// Compares a request as it was sent with its version further outside.
    ///
    /// A response to such a request belongs to the call that has made it. Fields for which a plugin has added an
    /// identity of the call do not count.
    ///
    /// - Parameters:
    ///   - sent: the request as it was sent.
    ///   - request: the request as the plugin that asks has seen it.
    ///   - ignoringCredentials: whether only other fields count, because the response says who may share it.
    /// - Returns: whether it was sent with a field that may name an account, and that the version outside did not have.
    public func mayNameAccount(
        _ sent: PipelineRequest,
        otherThan request: PipelineRequest,
        ignoringCredentials: Bool = false
    ) -> Bool {
        guard sent.headers != request.headers else { return false }
        return sent.headers.contains { field in
            let name = field.name
            let counts =
                AccountFields.isCredential(name, of: sent) ? !ignoringCredentials : AccountFields.mayNameAccount(name)
            return counts && sent.headers[fields: name] != request.headers[fields: name]
                && !hasIdentity(of: name, in: sent)
        }
    }
}
