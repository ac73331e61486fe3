#if Telemetry
public import HTTPTypes

private let standardHTTPMethods: Set<HTTPRequest.Method> = Set(
    [.get, .head, .post, .put, .delete, .connect, .options, .trace, .patch]
        + ["QUERY"].compactMap { HTTPRequest.Method($0) }
)

extension Set<HTTPRequest.Method> {
    /// The methods that metrics and traces name by default: those of RFC 9110, PATCH and QUERY.
    ///
    /// Source: `http.request.method` of the OpenTelemetry semantic conventions 1.44,
    /// https://opentelemetry.io/docs/specs/semconv/registry/attributes/http/
    public static var standardMethods: Self { standardHTTPMethods }
}

/// The methods that metrics and traces name, which limits the number of names.
struct KnownMethods: Sendable {
    /// The name of every other method.
    static let other = "_OTHER"

    let methods: Set<HTTPRequest.Method>

    /// Returns the method, or `_OTHER` if it is not known.
    func name(of method: HTTPRequest.Method) -> String {
        methods.contains(method) ? method.rawValue : Self.other
    }
}
#endif
