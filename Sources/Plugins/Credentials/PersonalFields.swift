import HTTPTypes
import Pipeline

/// The header fields that may name an account, of a request that a plugin or the transport has changed.
///
/// A plugin that shares or stores responses compares what it sees of a request. It must not share a response to a
/// request that got such a field further inside.
enum PersonalFields {
    /// Whether a request was sent with a field that may name an account, and that its version further outside did not
    /// have.
    ///
    /// - Parameters:
    ///   - sent: the request as it was sent.
    ///   - request: the request as the plugin outside has seen it.
    ///   - context: the context of the call, whose identities count for their fields.
    ///   - audience: who may share the response. Shared rules for credentials come from the response, not from the key.
    /// - Returns: whether the response may belong to one account.
    static func areAdded(
        to sent: PipelineRequest,
        since request: PipelineRequest,
        _ context: PipelineContext,
        _ audience: CacheRules.Audience = .private
    ) -> Bool {
        guard sent.headers != request.headers else { return false }
        return sent.headers.contains { field in
            let name = field.name
            guard isCredential(name, of: sent) ? audience == .private : !isImpersonal(name) else { return false }
            return sent.headers[fields: name] != request.headers[fields: name]
                && !context.hasIdentity(of: name, in: sent)
        }
    }

    /// Whether a field of a request names an account, in a key for an audience.
    static func isPersonal(_ name: HTTPField.Name, of request: PipelineRequest, _ audience: CacheRules.Audience) -> Bool
    {
        if isCredential(name, of: request) { return audience == .private }
        return !isImpersonal(name) && !words.isDisjoint(with: name.canonicalName.split(separator: "-"))
    }

    /// Whether the values of a field describe the message or the exchange, not who asks.
    static func isImpersonal(_ name: HTTPField.Name) -> Bool { impersonal.contains(name.canonicalName) }

    /// The words in names of fields that name an account.
    private static let words: Set<Substring> = [
        "account", "actor", "customer", "email", "group", "identity", "impersonate", "login", "member", "org",
        "organisation", "organization", "owner", "patient", "person", "principal", "profile", "role", "session",
        "subject", "team", "tenant", "uid", "user", "userid", "username", "workspace",
    ]

    /// Whether a field of a request carries a credential.
    static func isCredential(_ name: HTTPField.Name, of request: PipelineRequest) -> Bool {
        name == .authorization || name == .proxyAuthorization || name == .cookie
            || request.isSecret(name) && !traceFields.contains(name.canonicalName)
    }

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
