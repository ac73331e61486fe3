import Foundation
import HTTPTypes

/// Parameters as `name=value` pairs in the query or in a form body.
///
/// Keys are sorted at every level, array elements keep their order, `nil` and `NSNull` drop the key, an empty array or
/// dictionary adds nothing, spaces become `%20`. An existing query is kept and appended to.
///
/// **Defaults**
///
/// | setting | default |
/// |---|---|
/// | `destination` | `.methodDependent` |
/// | `arrayEncoding` | `.brackets`: `a[]=1&a[]=2`, percent-encoded |
/// | `boolEncoding` | `.numeric`: `1` and `0` |
/// | `dateEncoding` | `.iso8601` |
///
/// **Effects**: a form body sets `Content-Type: application/x-www-form-urlencoded; charset=utf-8` unless there is one, also
/// when there are no parameters. Other header fields are not touched.
///
/// Source: RFC 3986 §3.4, https://www.rfc-editor.org/rfc/rfc3986.html#section-3.4, and the form encoding of WHATWG's URL
/// standard with spaces as `%20`, https://url.spec.whatwg.org/#application/x-www-form-urlencoded
public struct URLEncoding: ParameterEncoding {
    /// Where the parameters go.
    public struct Destination: Sendable, Hashable {
        private enum Kind {
            case methodDependent
            case queryString
            case httpBody
        }

        private let kind: Kind

        /// The query for GET, HEAD and DELETE, the body for every other method.
        public static let methodDependent = Destination(kind: .methodDependent)
        /// Always the query.
        public static let queryString = Destination(kind: .queryString)
        /// Always a form body.
        public static let httpBody = Destination(kind: .httpBody)

        func isQuery(for method: HTTPRequest.Method) -> Bool {
            switch kind {
            case .queryString: true
            case .httpBody: false
            case .methodDependent: method == .get || method == .head || method == .delete
            }
        }

        /// Appends pairs to the query, or makes them the body.
        func put(_ pairs: String, into request: inout PipelineRequest) {
            guard !isQuery(for: request.method) else {
                request.appendQuery(pairs)
                return
            }
            request.body = .bytes(Data(pairs.utf8))
            request.setContentTypeIfAbsent("application/x-www-form-urlencoded; charset=utf-8")
        }
    }

    /// How the elements of an array are named.
    public struct ArrayEncoding: Sendable {
        private let makeName: @Sendable (_ key: String, _ index: Int) -> String

        /// `a[]=1&a[]=2`.
        public static let brackets = ArrayEncoding { key, _ in key + "[]" }
        /// `a=1&a=2`.
        public static let noBrackets = ArrayEncoding { key, _ in key }
        /// `a[0]=1&a[1]=2`.
        public static let indexInBrackets = ArrayEncoding { key, index in "\(key)[\(index)]" }
        /// Names of your own.
        public static func custom(_ makeName: @escaping @Sendable (String, Int) -> String) -> ArrayEncoding {
            ArrayEncoding(makeName: makeName)
        }

        private init(makeName: @escaping @Sendable (String, Int) -> String) {
            self.makeName = makeName
        }

        func name(_ key: String, _ index: Int) -> String { makeName(key, index) }
    }

    /// How booleans are written.
    public struct BoolEncoding: Sendable, Hashable {
        let trueText: String
        let falseText: String

        /// `1` and `0`.
        public static let numeric = BoolEncoding(trueText: "1", falseText: "0")
        /// `true` and `false`.
        public static let literal = BoolEncoding(trueText: "true", falseText: "false")
    }

    /// Where the parameters go.
    public var destination: Destination
    /// How the elements of an array are named.
    public var arrayEncoding: ArrayEncoding
    /// How booleans are written.
    public var boolEncoding: BoolEncoding
    /// How dates are written.
    public var dateEncoding: DateTextEncoding

    /// The query for GET, HEAD and DELETE, a form body otherwise.
    public static let `default` = URLEncoding()
    /// Always the query.
    public static let queryString = URLEncoding(destination: .queryString)
    /// Always a form body.
    public static let httpBody = URLEncoding(destination: .httpBody)

    /// Makes an encoding.
    public init(
        destination: Destination = .methodDependent,
        arrayEncoding: ArrayEncoding = .brackets,
        boolEncoding: BoolEncoding = .numeric,
        dateEncoding: DateTextEncoding = .iso8601
    ) {
        self.destination = destination
        self.arrayEncoding = arrayEncoding
        self.boolEncoding = boolEncoding
        self.dateEncoding = dateEncoding
    }

    /// Writes the parameters into the query or the body.
    public func encode(_ parameters: RequestParameters, into request: inout PipelineRequest) throws {
        destination.put(try text(of: parameters), into: &request)
    }

    /// The pairs as text, without a leading question mark.
    func text(of parameters: RequestParameters) throws -> String {
        try ParameterTree(parameters, dates: dateEncoding).formText(arrays: arrayEncoding, booleans: boolEncoding)
    }
}
