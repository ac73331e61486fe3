/// An HTTP method, such as GET.
public struct Method: RawRepresentable, Hashable, Sendable {
    /// The name of the method as it is sent.
    public let rawValue: String

    /// Creates a method from its name, which is case-sensitive.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The CONNECT method.
    public static let connect = Method(rawValue: "CONNECT")
    /// The DELETE method.
    public static let delete = Method(rawValue: "DELETE")
    /// The GET method.
    public static let get = Method(rawValue: "GET")
    /// The HEAD method.
    public static let head = Method(rawValue: "HEAD")
    /// The OPTIONS method.
    public static let options = Method(rawValue: "OPTIONS")
    /// The PATCH method.
    public static let patch = Method(rawValue: "PATCH")
    /// The POST method.
    public static let post = Method(rawValue: "POST")
    /// The PUT method.
    public static let put = Method(rawValue: "PUT")
    /// The QUERY method.
    public static let query = Method(rawValue: "QUERY")
    /// The TRACE method.
    public static let trace = Method(rawValue: "TRACE")

    /// Whether a request with this method can carry a multipart form: POST, PUT, PATCH and CONNECT.
    public var supportsMultipart: Bool { [.post, .put, .patch, .connect].contains(self) }
}
