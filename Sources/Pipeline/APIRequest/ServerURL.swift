public import Foundation

/// A server, and the path that all of its endpoints share.
///
/// ```swift
/// ServerURL(base: "https://api.example.com", path: "v1")
/// ```
///
/// What cannot be the URL of a request is refused when one is made, with `invalidRequest`.
public struct ServerURL: Sendable, Hashable {
    /// Scheme and host, for example `https://api.example.com`.
    public let base: String
    /// The path below it, empty for none.
    public let path: String

    /// Makes a server; exactly one slash ends up between the two.
    public init(base: String, path: String = "") {
        self.base = base
        self.path = path
    }

    /// Both in one.
    public var url: URL { URL(string: URLText.joining(base: base, path: path)) ?? Self.missing }

    /// No server: it has no scheme, so no request can be made of it.
    static let missing = URL(string: "/") ?? URL(filePath: "/")
}
