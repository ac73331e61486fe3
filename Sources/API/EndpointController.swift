/// A type that makes the requests of one part of an API.
///
/// ```swift
/// enum PostController: EndpointController {
///     static let endpoint = "post"
///     static func get(id: Int) -> APIRequest<Post> { request("\(id)") }  // post/7
///     static func list(_ query: ListQuery) -> APIRequest<[Post]> { request().query(query) }
/// }
/// ```
public protocol EndpointController {
    /// The type of ``server``: ``ServerURL``, or an optional one. With any other type there is no `request`.
    // Not constrained here: a server of a wrong type would be ignored then, and requests would go to that of the client.
    associatedtype Server = ServerURL?

    /// The server of the requests; defaults to `nil`, which is that of the client.
    ///
    /// Declare it as `static`, as a ``ServerURL`` or `ServerURL?`. The compiler does not notice a misspelt name, a missing
    /// `static` or the type `ServerURL!`: requests go to the client's server then.
    static var server: Server { get }
    /// The first part of the path of each request.
    static var endpoint: String { get }
}

extension EndpointController where Server == ServerURL? {
    /// The default: the server of the client.
    public static var server: ServerURL? { nil }

    /// Returns a request below the endpoint, whose result type is inferred.
    ///
    /// - Parameters:
    ///   - parts: the parts of the path below ``endpoint``, joined by one slash each. A question mark belongs to the path, as
    ///     `%3F`; use ``APIRequest/query(_:)`` for a query. Slashes within a part and `%` with two hexadecimal digits are sent
    ///     unchanged, so escape text from elsewhere first. An empty part, `.` and `..` are refused when the request is sent.
    ///   - payload: the content of the request.
    /// - Returns: the request.
    public static func request<Output>(_ parts: String..., payload: (any APIPayload)? = nil) -> APIRequest<Output> {
        let request = APIRequest<Output>([endpoint] + parts, payload: payload)
        return server.map { request.serverURL($0) } ?? request
    }
}

extension EndpointController where Server == ServerURL {
    /// Returns a request below the endpoint of the controller's own server, whose result type is inferred.
    ///
    /// - Parameters:
    ///   - parts: the parts of the path below ``endpoint``, joined by one slash each. A question mark belongs to the path, as
    ///     `%3F`; use ``APIRequest/query(_:)`` for a query. Slashes within a part and `%` with two hexadecimal digits are sent
    ///     unchanged, so escape text from elsewhere first. An empty part, `.` and `..` are refused when the request is sent.
    ///   - payload: the content of the request.
    /// - Returns: the request.
    public static func request<Output>(_ parts: String..., payload: (any APIPayload)? = nil) -> APIRequest<Output> {
        APIRequest<Output>([endpoint] + parts, payload: payload).serverURL(server)
    }
}
