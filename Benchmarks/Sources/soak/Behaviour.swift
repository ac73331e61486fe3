/// The way in which the server responds to a request.
enum Behaviour: String, CaseIterable, Sendable {
    /// 200 with a Content-Length.
    case plain
    /// 200 in chunks.
    case chunked
    /// 200 with a body that ends with the connection.
    case closeDelimited
    /// 200 with a gzip body.
    case gzip
    /// 503 with `Retry-After: 0`; a later attempt may succeed.
    case unavailable
    /// 401 with a challenge.
    case unauthorized
    /// 302 that redirects to a 200.
    case redirected
    /// Closes the connection in the middle of the body; a later attempt may succeed.
    case truncated
    /// Resets the connection in the middle of the body; a later attempt may succeed.
    case reset
    /// 200 after 200 ms.
    case stalled
    /// Closes the connection without a response; a later attempt may succeed.
    case empty
    /// Sends a response that is not valid HTTP.
    case malformed
    /// A response to HEAD with a Content-Length.
    case head
    /// 204.
    case noContent
    /// 304.
    case notModified
    /// 200 in ten chunks, 5 ms apart.
    case drip
    /// 200 with 1 MiB.
    case large
    /// 200 with the body of the POST request.
    case echo
    /// 307 that redirects to ``echo``.
    case movedEcho
    /// 200 with 1 MiB that the client reads piece by piece.
    case streamed
    /// Like ``streamed``, but the client reads one half and drops the other.
    case dropped
    /// Like ``truncated``, but the client reads the body piece by piece.
    case streamedTruncated
    /// 200 with three cookies.
    case cookies

    /// How often the behaviour is drawn, out of 120 draws.
    ///
    /// Of these, 60 are plain successes.
    var weight: Int {
        switch self {
        case .plain: 24
        case .chunked: 20
        case .closeDelimited: 16
        case .gzip: 10
        case .unavailable, .unauthorized, .redirected, .truncated, .reset, .stalled: 5
        case .echo, .empty: 3
        case .malformed, .head, .noContent, .cookies, .drip, .movedEcho: 2
        case .notModified, .large, .streamed, .dropped, .streamedTruncated: 1
        }
    }

    /// Whether the client reads the body piece by piece.
    var isStreamed: Bool { self == .streamed || self == .dropped || self == .streamedTruncated }

    /// Whether the request has a body.
    var isEcho: Bool { self == .echo || self == .movedEcho }

    /// Whether a later attempt may receive a plain success.
    var mayHeal: Bool { [.unavailable, .truncated, .reset, .empty].contains(self) }

    private static let drawn: [Behaviour] = allCases.flatMap { Array(repeating: $0, count: $0.weight) }

    static func drawn(by draw: Draw) -> Behaviour { drawn[draw.number(1, below: drawn.count)] }
}
