public import Foundation
public import HTTPTypes
import Pipeline

/// What makes a request the same as a recorded one: a list of parts, all of which have to be equal.
///
/// ```swift
/// [.method, .path, .query(ignoring: ["page"]), .body(.json)]
/// RequestMatching.standard + [.header(.accept)]
/// ```
///
/// **Effects**: both sides go through the redaction of recordings first, so that a hidden value equals any other hidden
/// value of the same name. If no entry matches then, `REDACTED` in a path, a query, a field or a body matches any value there.
/// Percent-encoding is undone once on both sides; scheme and host are compared without case, and a
/// port that is not written is the scheme's own. A body is compared decoded from its Content-Encoding. It is read into memory when a part
/// looks at bodies, up to `bodyByteCount` of the transport, and not touched otherwise.
///
/// **Defaults**: ``standard``, which is method, URL with its query in any order, and the body.
public struct RequestMatching: Sendable, ExpressibleByArrayLiteral {
    /// The parts, in the order in which a failure lists them.
    public var parts: [Part]

    /// The method, the URL with its query in any order, and the body as its Content-Type says.
    public static let standard: RequestMatching = [.method, .url, .body]

    /// Makes a list.
    public init(arrayLiteral parts: Part...) { self.parts = parts }

    /// Makes a list.
    public init(_ parts: [Part]) { self.parts = parts }

    /// The parts of both.
    public static func + (lhs: RequestMatching, rhs: RequestMatching) -> RequestMatching {
        RequestMatching(lhs.parts + rhs.parts)
    }
}

extension RequestMatching {
    /// One thing that has to be equal.
    public struct Part: Sendable {
        enum Kind: Sendable {
            case method
            case scheme
            case host
            case port
            case path
            case query(QueryOrder, ignoring: Set<String>)
            case header(HTTPField.Name)
            case body(BodyForm)
            case custom(String, readsBody: Bool, @Sendable (Request, Request) -> Bool)
        }

        let kinds: [Kind]

        /// The method.
        public static let method = Part(kinds: [.method])
        /// The scheme.
        public static let scheme = Part(kinds: [.scheme])
        /// The host, without case.
        public static let host = Part(kinds: [.host])
        /// The port; one that is not written is the scheme's own.
        public static let port = Part(kinds: [.port])
        /// The path.
        public static let path = Part(kinds: [.path])
        /// Scheme, host, port, path, and the query in any order.
        public static let url = Part(kinds: [.scheme, .host, .port, .path, .query(.any, ignoring: [])])
        /// The body as its Content-Type says.
        public static let body = body(.automatic)

        /// The query.
        ///
        /// - Parameters:
        ///   - order: whether items have to stand in the same order.
        ///   - names: items that do not count, by their decoded names.
        /// - Returns: a part.
        public static func query(_ order: QueryOrder = .any, ignoring names: Set<String> = []) -> Part {
            Part(kinds: [.query(order, ignoring: names)])
        }

        /// A header field, all its values in their order; also that there is none.
        public static func header(_ name: HTTPField.Name) -> Part { Part(kinds: [.header(name)]) }

        /// The body; none equals one of no bytes.
        public static func body(_ form: BodyForm) -> Part { Part(kinds: [.body(form)]) }

        /// Whatever the closure compares.
        ///
        /// - Parameters:
        ///   - name: what a failure calls it.
        ///   - readsBody: whether it looks at bodies, which then are read into memory.
        ///   - isEqual: gets the live request and a recorded one, both redacted.
        /// - Returns: a part.
        public static func custom(
            _ name: String,
            readsBody: Bool = false,
            _ isEqual: @escaping @Sendable (_ live: Request, _ recorded: Request) -> Bool
        ) -> Part {
            Part(kinds: [.custom(name, readsBody: readsBody, isEqual)])
        }
    }

    /// Whether the order of a query counts.
    public struct QueryOrder: Sendable, Hashable {
        let counts: Bool

        /// The same items as often, in any order.
        public static let any = QueryOrder(counts: false)
        /// The same items in the same order.
        public static let same = QueryOrder(counts: true)
    }

    /// As what a body is compared; what is not of the form is compared byte by byte.
    public struct BodyForm: Sendable, Hashable {
        enum Kind {
            case automatic
            case bytes
            case json
            case form
            case multipart
        }

        let kind: Kind

        /// JSON, forms and multipart bodies by the recorded and the sent Content-Type, all else byte by byte.
        public static let automatic = BodyForm(kind: .automatic)
        /// Byte by byte.
        public static let bytes = BodyForm(kind: .bytes)
        /// JSON values: the order of members and the layout do not count, nor how a number is written.
        public static let json = BodyForm(kind: .json)
        /// The pairs of a form, in any order.
        public static let form = BodyForm(kind: .form)
        /// The parts of a multipart body, in their order, whatever its boundary is.
        public static let multipart = BodyForm(kind: .multipart)
    }

    /// A request as it is compared: redacted, and its body decoded from its content coding.
    public struct Request: Sendable {
        /// The method.
        public let method: String
        /// The URL, without a fragment.
        public let url: String
        /// The header fields.
        public let headers: HTTPFields
        /// The body; no bytes when there is none or when no part reads it.
        public let body: Data
    }
}
