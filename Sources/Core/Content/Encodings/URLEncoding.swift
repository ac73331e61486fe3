import Foundation
import HTTPTypes

/// A parameter encoding that writes `name=value` pairs into the query or a form body.
///
/// Keys are sorted at every level, and array elements keep their order. A key whose value is `nil` or `NSNull` is
/// omitted, and an empty array or dictionary adds nothing. Spaces become `%20`. Pairs are appended to an existing
/// query.
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
/// **Effects**: a form body sets `Content-Type: application/x-www-form-urlencoded; charset=utf-8` unless the request
/// has a Content-Type, even if `parameters` is empty. Other header fields are not touched.
///
/// Source: RFC 3986 §3.4, https://www.rfc-editor.org/rfc/rfc3986.html#section-3.4, and the form encoding of WHATWG's
/// URL standard with spaces as `%20`, https://url.spec.whatwg.org/#application/x-www-form-urlencoded
public struct URLEncoding: ParameterEncoding {
    /// The part of the request into which the parameters are written.
    public struct Destination: Sendable, Hashable {
        /// Whether the parameters go into the query; `nil` if the method decides.
        private let isQuery: Bool?

        /// The query for GET, HEAD and DELETE, and a form body for every other method.
        public static let methodDependent = Destination(isQuery: nil)
        /// The query, regardless of the method.
        public static let queryString = Destination(isQuery: true)
        /// A form body, regardless of the method.
        public static let httpBody = Destination(isQuery: false)

        func isQuery(for method: HTTPRequest.Method) -> Bool {
            isQuery ?? (method == .get || method == .head || method == .delete)
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

    /// The names of array elements.
    public struct ArrayEncoding: Sendable {
        /// Returns the name of an element.
        let name: @Sendable (_ key: String, _ index: Int) -> String

        /// The key followed by `[]`, as in `a[]=1&a[]=2`.
        public static let brackets = ArrayEncoding { key, _ in key + "[]" }
        /// The key alone, as in `a=1&a=2`.
        public static let noBrackets = ArrayEncoding { key, _ in key }
        /// The key followed by the index in brackets, as in `a[0]=1&a[1]=2`.
        public static let indexInBrackets = ArrayEncoding { key, index in "\(key)[\(index)]" }
        /// Returns an encoding that calls a closure with the key and the index for the name of each element.
        public static func custom(_ makeName: @escaping @Sendable (String, Int) -> String) -> ArrayEncoding {
            ArrayEncoding(name: makeName)
        }
    }

    /// The text of booleans.
    public struct BoolEncoding: Sendable, Hashable {
        let trueText: String
        let falseText: String

        /// The digits `1` and `0`.
        public static let numeric = BoolEncoding(trueText: "1", falseText: "0")
        /// The words `true` and `false`.
        public static let literal = BoolEncoding(trueText: "true", falseText: "false")
    }

    /// The part of the request into which the parameters are written.
    public var destination: Destination
    /// The names of array elements.
    public var arrayEncoding: ArrayEncoding
    /// The text of booleans.
    public var boolEncoding: BoolEncoding
    /// The encoding of dates; defaults to ISO 8601.
    public var dateEncoding: DateCodingStrategy.TextEncoding

    /// An encoding that writes into the query for GET, HEAD and DELETE, and otherwise into a form body.
    public static let `default` = URLEncoding()
    /// An encoding that always writes into the query.
    public static let queryString = URLEncoding(destination: .queryString)
    /// An encoding that always writes into a form body.
    public static let httpBody = URLEncoding(destination: .httpBody)

    /// Creates an encoding; the table above lists the defaults.
    public init(
        destination: Destination = .methodDependent,
        arrayEncoding: ArrayEncoding = .brackets,
        boolEncoding: BoolEncoding = .numeric,
        dateEncoding: DateCodingStrategy.TextEncoding = .iso8601
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

    /// Returns the pairs as text, without a leading question mark.
    func text(of parameters: RequestParameters) throws -> String {
        try ParameterTree(parameters, dates: dateEncoding).formText(arrays: arrayEncoding, booleans: boolEncoding)
    }
}
