public import Foundation
public import HTTPTypes
import PipelineCore

/// The parts of a request that must equal those of a recorded one for the entry to be replayed.
///
/// ```swift
/// RequestMatching.standard.ignoring(query: ["timestamp"]).ignoring(body: ["nonce"]) + [.header(.accept)]
/// RequestMatching.standard.ignoring(.port)
/// [.method, .path, .body(.json)]
/// ```
///
/// **Effects**: both requests are redacted first. A hidden value therefore equals any other hidden value of the same
/// name. If no entry matches, `REDACTED` in a path, query, field or body of an entry matches any value there.
///
/// Percent-encoding is decoded once on both sides. The case of scheme and host is ignored. A missing port equals the
/// default port of the scheme. A body is compared after its Content-Encoding is decoded. If a part compares bodies, the
/// body is read into memory, up to `bodyByteCount` of the transport; otherwise it is not touched.
///
/// **Defaults**: ``standard``, which is the method, the URL with its query in any order, and the body.
public struct RequestMatching: Sendable, ExpressibleByArrayLiteral {
    /// The parts, in the order in which an error lists them.
    public var parts: [Part]

    /// Compares the method, the URL with its query in any order, and the body according to its Content-Type.
    public static let standard: RequestMatching = [.method, .url, .body()]

    /// Creates a list of parts.
    public init(arrayLiteral parts: Part...) { self.parts = parts }

    /// Returns the parts of both lists.
    public static func + (lhs: RequestMatching, rhs: RequestMatching) -> RequestMatching {
        var sum = lhs
        sum.parts += rhs.parts
        return sum
    }

    /// Returns the list without a part, which is then not compared: `.standard.ignoring(.port)`.
    ///
    /// - Parameter part: the part to ignore. ``Part/url`` represents five parts. A query or a body is removed however
    ///   it is compared. Of header fields and custom comparisons, those with the same name are removed.
    /// - Returns: the other parts.
    public func ignoring(_ part: Part) -> RequestMatching {
        mapping { kind in part.kinds.contains(where: kind.isSamePart) ? nil : kind }
    }

    /// Returns the list with additional query items ignored.
    ///
    /// - Parameter names: the decoded names of the items.
    /// - Returns: the new list; the same list if it does not compare the query.
    public func ignoring(query names: Set<String>) -> RequestMatching {
        mapping { kind in
            guard case .query(let inOrder, let ignored) = kind else { return kind }
            return .query(inOrder: inOrder, ignoring: ignored.union(names))
        }
    }

    /// Returns the list with additional members of JSON bodies and pairs of forms ignored.
    ///
    /// - Parameter names: the names of the members, at any depth, and the decoded names of the pairs.
    /// - Returns: the new list; the same list if it does not compare bodies.
    public func ignoring(body names: Set<String>) -> RequestMatching {
        mapping { kind in
            guard case .body(let form, let ignored) = kind else { return kind }
            return .body(form, ignoring: ignored.union(names))
        }
    }

    private func mapping(_ change: (Part.Kind) -> Part.Kind?) -> RequestMatching {
        var result = self
        result.parts = parts.map { Part(kinds: $0.kinds.compactMap(change)) }.filter { !$0.kinds.isEmpty }
        return result
    }
}

extension RequestMatching {
    /// A part of a request that must be equal.
    public struct Part: Sendable {
        enum Kind: Sendable {
            case method
            case scheme
            case host
            case port
            case path
            case query(inOrder: Bool, ignoring: Set<String>)
            case header(HTTPField.Name)
            case body(BodyForm, ignoring: Set<String>)
            case custom(String, readsBody: Bool, @Sendable (Request, Request) -> Bool)
        }

        let kinds: [Kind]

        /// The method of the request.
        public static let method = Part(kinds: [.method])
        /// The scheme of the URL; its case is ignored.
        public static let scheme = Part(kinds: [.scheme])
        /// The host of the URL; its case is ignored.
        public static let host = Part(kinds: [.host])
        /// The port of the URL; defaults to the port of the scheme.
        public static let port = Part(kinds: [.port])
        /// The path of the URL, with percent-encoding decoded.
        public static let path = Part(kinds: [.path])
        /// Scheme, host, port, path, and the query in any order.
        public static let url = Part(kinds: [.scheme, .host, .port, .path, .query(inOrder: false, ignoring: [])])

        /// The items of the query.
        ///
        /// Each item must occur the same number of times.
        ///
        /// - Parameters:
        ///   - inOrder: whether the items must have the same order.
        ///   - names: the decoded names of items that are ignored.
        /// - Returns: the part.
        public static func query(inOrder: Bool = false, ignoring names: Set<String> = []) -> Part {
            Part(kinds: [.query(inOrder: inOrder, ignoring: names)])
        }

        /// All values of a header field, in order.
        ///
        /// A missing field equals only a missing field.
        public static func header(_ name: HTTPField.Name) -> Part { Part(kinds: [.header(name)]) }

        /// The body; a missing body equals an empty one.
        ///
        /// - Parameters:
        ///   - form: how bodies are compared.
        ///   - names: the names of JSON members, at any depth, and the decoded names of form pairs that are ignored.
        ///     They have no effect on bodies that are compared in another form.
        /// - Returns: the part.
        public static func body(_ form: BodyForm = .automatic, ignoring names: Set<String> = []) -> Part {
            Part(kinds: [.body(form, ignoring: names)])
        }

        /// A custom comparison.
        ///
        /// - Parameters:
        ///   - name: the name of the part in error messages.
        ///   - readsBody: whether the closure uses bodies, which are then read into memory.
        ///   - isEqual: compares the live request with a recorded one, both redacted.
        /// - Returns: the part.
        public static func custom(
            _ name: String,
            readsBody: Bool = false,
            _ isEqual: @escaping @Sendable (_ live: Request, _ recorded: Request) -> Bool
        ) -> Part {
            Part(kinds: [.custom(name, readsBody: readsBody, isEqual)])
        }
    }

    /// The form in which bodies are compared.
    ///
    /// A body that is not in this form is compared byte by byte.
    public enum BodyForm: Sendable {
        /// As JSON, a form or a multipart body according to Content-Type, otherwise byte by byte.
        case automatic
        /// Byte by byte, whatever Content-Type is.
        case bytes
        /// As JSON values: the order of members, the layout and the notation of numbers are ignored.
        case json
        /// As the pairs of a form, in any order.
        case form
        /// As the parts of a multipart body, in order; the boundary is ignored.
        ///
        /// If an entry has only the parameters of an upload or an empty file, as browsers and Charles write, parts are
        /// compared by name, and such a file matches any.
        case multipart
    }

    /// A request as it is compared: redacted, with its body decoded from its content coding.
    public struct Request: Sendable {
        /// The method of the request.
        public let method: String
        /// The URL, without a fragment.
        public let url: String
        /// The header fields, redacted.
        public let headers: HTTPFields
        /// The body; empty if there is none or if no part reads it.
        public let body: Data
    }
}
