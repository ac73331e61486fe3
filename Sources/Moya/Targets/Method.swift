/// An HTTP method, such as GET.
@available(swift, deprecated: 7, message: "Use HTTPMethod.")
public struct Method: RawRepresentable, Hashable, Sendable {
    /// The name of the method as it is sent.
    public let rawValue: String

    /// Creates a method from its name, which is case-sensitive.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The method CONNECT, which opens a tunnel.
    public static let connect = Method(rawValue: "CONNECT")
    /// The method DELETE, which removes a resource.
    public static let delete = Method(rawValue: "DELETE")
    /// The method GET, which reads a resource.
    public static let get = Method(rawValue: "GET")
    /// The method HEAD, which reads header fields only.
    public static let head = Method(rawValue: "HEAD")
    /// The method OPTIONS, which asks what a resource supports.
    public static let options = Method(rawValue: "OPTIONS")
    /// The method PATCH, which changes a part of a resource.
    public static let patch = Method(rawValue: "PATCH")
    /// The method POST, which submits data.
    public static let post = Method(rawValue: "POST")
    /// The method PUT, which replaces a resource.
    public static let put = Method(rawValue: "PUT")
    /// The method QUERY, which reads with a body.
    public static let query = Method(rawValue: "QUERY")
    /// The method TRACE, which returns the request.
    public static let trace = Method(rawValue: "TRACE")

    /// Whether a request with this method can carry a multipart form: POST, PUT, PATCH and CONNECT.
    public var supportsMultipart: Bool { [.post, .put, .patch, .connect].contains(self) }
}
