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

    /// The name of every other method.
    static let otherMethod = "_OTHER"

    /// Returns the method, or `_OTHER` if it is not among them, which limits the number of names.
    func name(of method: HTTPRequest.Method) -> String { contains(method) ? method.rawValue : Self.otherMethod }
}
#endif
