/// A plain type that makes the requests of one part of an API.
///
/// ```swift
/// enum PostController: EndpointController {
///     static let endpoint = "post"
///     static func get(id: Int) -> APIRequest<Post> { request("\(id)") }  // post/7
///     static func list(_ query: ListQuery) -> APIRequest<[Post]> { request().query(query) }
/// }
/// ```
public protocol EndpointController {
    /// The type of ``server``, which says it by itself: ``ServerURL``, or an optional one. With any other there is no `request`.
    // Not constrained here: a server of a wrong type would not count then, and that of the client would.
    associatedtype ServerOfController = ServerURL?

    /// The server of its requests; `nil` for that of the client, which is the default.
    ///
    /// As it has a default, the compiler does not notice a misspelt name, one that is not `static`, nor the type `ServerURL!`, which
    /// Swift takes for no witness: requests go to the client's server then. Write `ServerURL` or `ServerURL?`.
    static var server: ServerOfController { get }
    /// What the paths of its requests begin with.
    static var endpoint: String { get }
}

extension EndpointController where ServerOfController == ServerURL? {
    /// That of the client.
    public static var server: ServerURL? { nil }
}

extension EndpointController where ServerOfController: ControllerServer {
    /// A request below the endpoint.
    ///
    /// - Parameters:
    ///   - parts: the parts of the path below ``endpoint``, joined by one slash each. A question mark is one of the path, `%3F`: the query
    ///     is that of ``APIRequest/query(_:)``. Slashes within a part and `%` with two hexadecimal digits stay as they are; a text from
    ///     elsewhere that may hold them is escaped before. An empty part, one dot and two dots are refused.
    ///   - payload: what the request carries.
    /// - Returns: the request, whose type of answer comes from where it is used.
    public static func request<Output>(_ parts: String..., payload: (any APIPayload)? = nil) -> APIRequest<Output> {
        let request = APIRequest<Output>([endpoint] + parts, payload: payload)
        return server.serverURL.map { request.serverURL($0) } ?? request
    }
}
