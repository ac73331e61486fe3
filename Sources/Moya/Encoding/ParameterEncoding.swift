public import Foundation
import PipelineCore

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// Request parameters, each a name with a value.
@available(swift, deprecated: 7, message: "Use RequestParameters.")
public typealias Parameters = [String: Any]

/// A type that can be turned into a `URLRequest`.
@available(swift, deprecated: 7, message: "Use PipelineRequest.")
public protocol URLRequestConvertible {
    /// Returns the request.
    func asURLRequest() throws -> URLRequest
}

extension URLRequest: URLRequestConvertible {
    /// Returns the request itself.
    public func asURLRequest() -> URLRequest { self }
}

/// A type that writes parameters into a request.
@available(swift, deprecated: 7, message: "Use ParameterEncoding of Pipeline.")
public protocol ParameterEncoding {
    /// Returns the request with the parameters in its query or its body.
    func encode(_ urlRequest: any URLRequestConvertible, with parameters: Parameters?) throws -> URLRequest
}

/// A parameter encoding that writes a JSON object into the body, with sorted keys.
///
/// It sets `Content-Type: application/json` unless the request has a Content-Type.
@available(swift, deprecated: 7, message: "Use JSONEncoding of Pipeline.")
public struct JSONEncoding: ParameterEncoding, Sendable {
    /// The options with which the JSON is written, in addition to sorted keys.
    public let options: JSONSerialization.WritingOptions

    /// An encoding that writes a single line.
    public static var `default`: JSONEncoding { JSONEncoding() }
    /// An encoding that writes indented lines.
    public static var prettyPrinted: JSONEncoding { JSONEncoding(options: .prettyPrinted) }

    /// Creates an encoding with writing options.
    public init(options: JSONSerialization.WritingOptions = []) {
        self.options = options
    }

    /// Returns the request with the parameters as its body; without parameters, returns the request unchanged.
    public func encode(_ urlRequest: any URLRequestConvertible, with parameters: Parameters?) throws -> URLRequest {
        try encode(urlRequest, object: parameters)
    }

    /// Returns the request with an array or a dictionary as its body.
    public func encode(_ urlRequest: any URLRequestConvertible, withJSONObject object: Any?) throws -> URLRequest {
        try encode(urlRequest, object: object)
    }

    private func encode(_ urlRequest: any URLRequestConvertible, object: Any?) throws -> URLRequest {
        var request = try urlRequest.asURLRequest()
        guard let object else { return request }
        guard JSONSerialization.isValidJSONObject(object) else {
            throw PipelineError(.encoding, "the parameters include a value that JSON cannot represent")
        }
        request.httpBody = try JSONSerialization.data(withJSONObject: object, options: options.union(.sortedKeys))
        request.setContentTypeIfAbsent("application/json")
        return request
    }
}

/// A parameter encoding that writes `name=value` pairs, sorted by name at every level, into the query or a form body.
///
/// A form sets `Content-Type: application/x-www-form-urlencoded; charset=utf-8` unless the request has a Content-Type.
@available(swift, deprecated: 7, message: "Use URLEncoding of Pipeline.")
public struct URLEncoding: ParameterEncoding, Sendable {
    /// Where the pairs are written.
    public enum Destination: Sendable {
        /// The query for GET, HEAD and DELETE, and the body for all other methods.
        case methodDependent
        /// The query.
        case queryString
        /// The body.
        case httpBody
    }

    /// How the name of an array's element is written.
    public enum ArrayEncoding: Sendable {
        /// Appends `[]` to the name.
        case brackets
        /// Repeats the name.
        case noBrackets
        /// Appends the element's index in brackets.
        case indexInBrackets
        /// Names the element as a closure decides, given the array's name and the element's index.
        case custom(@Sendable (_ key: String, _ index: Int) -> String)

        fileprivate func name(_ key: String, _ index: Int) -> String {
            switch self {
            case .brackets: "\(key)[]"
            case .noBrackets: key
            case .indexInBrackets: "\(key)[\(index)]"
            case .custom(let make): make(key, index)
            }
        }
    }

    /// How a Boolean is written.
    public enum BoolEncoding: Sendable {
        /// As `1` or `0`.
        case numeric
        /// As `true` or `false`.
        case literal

        fileprivate func text(_ value: Bool) -> String {
            switch self {
            case .numeric: value ? "1" : "0"
            case .literal: value ? "true" : "false"
            }
        }
    }

    /// Where the pairs are written; defaults to ``Destination/methodDependent``.
    public let destination: Destination
    /// How names of array elements are written; defaults to ``ArrayEncoding/brackets``.
    public let arrayEncoding: ArrayEncoding
    /// How Booleans are written; defaults to ``BoolEncoding/numeric``.
    public let boolEncoding: BoolEncoding

    /// An encoding whose destination depends on the method.
    public static var `default`: URLEncoding { URLEncoding() }
    /// An encoding that writes into the query.
    public static var queryString: URLEncoding { URLEncoding(destination: .queryString) }
    /// An encoding that writes into the body.
    public static var httpBody: URLEncoding { URLEncoding(destination: .httpBody) }

    /// Creates an encoding; by default, the destination depends on the method.
    public init(
        destination: Destination = .methodDependent,
        arrayEncoding: ArrayEncoding = .brackets,
        boolEncoding: BoolEncoding = .numeric
    ) {
        self.destination = destination
        self.arrayEncoding = arrayEncoding
        self.boolEncoding = boolEncoding
    }

    /// Returns the request with the parameters in its query or its body; without parameters, returns it unchanged.
    public func encode(_ urlRequest: any URLRequestConvertible, with parameters: Parameters?) throws -> URLRequest {
        var request = try urlRequest.asURLRequest()
        guard let parameters else { return request }
        var pairs: [String] = []
        for (key, value) in parameters.sorted(by: { $0.key < $1.key }) { append(value, as: key, to: &pairs) }
        let text = pairs.joined(separator: "&")
        if writesToBody(request.httpMethod) {
            request.httpBody = Data(text.utf8)
            request.setContentTypeIfAbsent("application/x-www-form-urlencoded; charset=utf-8")
            return request
        }
        guard let url = request.url, var components = URLComponents(url: url, resolvingAgainstBaseURL: false) else {
            throw PipelineError(.encoding, "the request has no URL for the query")
        }
        guard !text.isEmpty else { return request }
        components.percentEncodedQuery = [components.percentEncodedQuery, text].compactMap(\.self)
            .joined(separator: "&")
        request.url = components.url
        return request
    }

    private func writesToBody(_ method: String?) -> Bool {
        switch destination {
        case .methodDependent: !["GET", "HEAD", "DELETE"].contains(method)
        case .queryString: false
        case .httpBody: true
        }
    }

    private func append(_ value: Any, as key: String, to pairs: inout [String]) {
        switch value {
        case let members as [String: Any]:
            for (name, value) in members.sorted(by: { $0.key < $1.key }) {
                append(value, as: "\(key)[\(name)]", to: &pairs)
            }
        case let elements as [Any]:
            for (index, element) in elements.enumerated() {
                append(element, as: arrayEncoding.name(key, index), to: &pairs)
            }
        default:
            pairs.append("\(escaped(key))=\(escaped(text(of: value)))")
        }
    }

    private func text(of value: Any) -> String {
        switch value {
        case let text as String: text
        case let number as any BinaryInteger: "\(number)"
        // "c" is the type of a Boolean.
        case let number as NSNumber where String(cString: number.objCType) == "c": boolEncoding.text(number.boolValue)
        case let number as Double where number.rounded() == number && abs(number) < 1e15: "\(Int64(number))"
        case let number as Float where number.rounded() == number && abs(number) < 1e6: "\(Int64(number))"
        case let number as NSNumber: number.stringValue
        default: "\(value)"
        }
    }

    /// Escapes everything but unreserved characters, `/` and `?`, as RFC 3986 §3.4 allows.
    private func escaped(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: Self.allowed) ?? text
    }

    private static let allowed = CharacterSet(
        charactersIn: "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/?"
    )
}
