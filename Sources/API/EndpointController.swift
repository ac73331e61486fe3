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
    /// The type of ``server``: ``ServerURL`` or an optional one. With any other type, `request` is unavailable.
    // Not constrained: a server of a wrong type would be ignored, and requests would go to the client's server.
    associatedtype Server = ServerURL?

    /// The server of the requests; defaults to `nil`, which means the client's server.
    ///
    /// Declare it as `static`, with the type ``ServerURL`` or `ServerURL?`. The compiler does not detect a misspelled
    /// name, a missing `static` or the type `ServerURL!`; requests then go to the client's server.
    static var server: Server { get }
    /// The first part of the path of every request.
    static var endpoint: String { get }
}

extension EndpointController where Server == ServerURL? {
    /// The default server, `nil`, which means the client's server.
    public static var server: ServerURL? { nil }

    /// Returns a request for a path below the endpoint; its result type is inferred.
    ///
    /// - Parameters:
    ///   - parts: the parts of the path below ``endpoint``, joined by one slash each. A question mark belongs to the
    ///     path, as `%3F`; use ``APIRequest/query(_:)`` for a query. Slashes within a part and `%` followed by two
    ///     hexadecimal digits are sent unchanged, so escape text from other sources first. The request fails when it is
    ///     sent if a part is empty, `.` or `..`.
    ///   - payload: the content of the request; defaults to `nil`.
    /// - Returns: the request.
    public static func request<Output>(_ parts: String..., payload: (any APIPayload)? = nil) -> APIRequest<Output> {
        let request = APIRequest<Output>([endpoint] + parts, payload: payload)
        return server.map { request.serverURL($0) } ?? request
    }
}

extension EndpointController where Server == ServerURL {
    /// Returns a request for a path below the endpoint, sent to the controller's own server; its result type is
    /// inferred.
    ///
    /// - Parameters:
    ///   - parts: the parts of the path below ``endpoint``, joined by one slash each. A question mark belongs to the
    ///     path, as `%3F`; use ``APIRequest/query(_:)`` for a query. Slashes within a part and `%` followed by two
    ///     hexadecimal digits are sent unchanged, so escape text from other sources first. The request fails when it is
    ///     sent if a part is empty, `.` or `..`.
    ///   - payload: the content of the request; defaults to `nil`.
    /// - Returns: the request.
    public static func request<Output>(_ parts: String..., payload: (any APIPayload)? = nil) -> APIRequest<Output> {
        APIRequest<Output>([endpoint] + parts, payload: payload).serverURL(server)
    }
}
