/// What the server does with a request.
enum Behaviour: String, CaseIterable, Sendable {
    /// 200 with a Content-Length.
    case plain
    /// 200 in chunks.
    case chunked
    /// 200 that ends with the connection.
    case closeDelimited
    /// 200 in gzip.
    case gzip
    /// 503 with `Retry-After: 0`, which may heal at a later attempt.
    case unavailable
    /// 401 with a challenge.
    case unauthorized
    /// 302 to a 200.
    case redirected
    /// Closes in the middle of the body; may heal.
    case truncated
    /// Resets in the middle of the body; may heal.
    case reset
    /// 200 after 200 ms.
    case stalled
    /// Closes without an answer; may heal.
    case empty
    /// Answers what is not HTTP.
    case malformed
    /// HEAD with a Content-Length.
    case head
    /// 204.
    case noContent
    /// 304.
    case notModified
    /// 200 in ten chunks, 5 ms apart.
    case drip
    /// 200 with 1 MiB.
    case large
    /// POST whose body is the answer.
    case echo
    /// 307 to that.
    case movedEcho
    /// 200 with 1 MiB that the client reads piece by piece.
    case streamed
    /// The same, of which the client reads one half and drops the other.
    case dropped
    /// The client reads piece by piece what closes in the middle.
    case streamedTruncated
    /// 200 with three cookies.
    case cookies

    /// How often it is drawn: out of 120, of which 60 are plain successes.
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

    /// Whether the body is read piece by piece.
    var isStreamed: Bool { self == .streamed || self == .dropped || self == .streamedTruncated }

    /// Whether the request has a body.
    var isEcho: Bool { self == .echo || self == .movedEcho }

    /// Whether a later attempt may be answered with a plain success.
    var mayHeal: Bool { [.unavailable, .truncated, .reset, .empty].contains(self) }

    private static let drawn: [Behaviour] = allCases.flatMap { Array(repeating: $0, count: $0.weight) }

    static func drawn(by draw: Draw) -> Behaviour { drawn[draw.number(1, below: drawn.count)] }
}
