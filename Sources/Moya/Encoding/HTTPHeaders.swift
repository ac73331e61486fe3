#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// A header field of a request, with a case-insensitive name.
@available(swift, deprecated: 7, message: "Use HTTPField of HTTPTypes.")
public struct HTTPHeader: Hashable, Sendable {
    /// The name of the field, which is case-insensitive.
    public let name: String
    /// The value of the field.
    public let value: String

    /// Creates a field from its name and value.
    public init(name: String, value: String) {
        self.name = name
        self.value = value
    }

    /// Creates an Accept field.
    public static func accept(_ value: String) -> HTTPHeader { HTTPHeader(name: "Accept", value: value) }

    /// Creates an Authorization field.
    public static func authorization(_ value: String) -> HTTPHeader { HTTPHeader(name: "Authorization", value: value) }

    /// Creates an Authorization field for a bearer token.
    public static func authorization(bearerToken: String) -> HTTPHeader { authorization("Bearer \(bearerToken)") }

    /// Creates an Authorization field for Basic.
    public static func authorization(username: String, password: String) -> HTTPHeader {
        authorization("Basic \(Data("\(username):\(password)".utf8).base64EncodedString())")
    }

    /// Creates a Content-Type field.
    public static func contentType(_ value: String) -> HTTPHeader { HTTPHeader(name: "Content-Type", value: value) }

    /// Creates a User-Agent field.
    public static func userAgent(_ value: String) -> HTTPHeader { HTTPHeader(name: "User-Agent", value: value) }
}

/// Header fields in order, without repeated names; names are case-insensitive.
@available(swift, deprecated: 7, message: "Use HTTPFields of HTTPTypes.")
public struct HTTPHeaders: Hashable, Sendable, Sequence {
    private var fields: [HTTPHeader] = []

    /// No fields: the transport sends its own.
    public static let `default` = HTTPHeaders()

    /// Creates an empty list.
    public init() {}

    /// Creates a list; of several fields with the same name, the last one counts.
    public init(_ headers: [HTTPHeader]) {
        for header in headers { update(header) }
    }

    /// Creates a list, sorted by name.
    public init(_ dictionary: [String: String]) {
        self.init(dictionary.sorted { $0.key < $1.key }.map { HTTPHeader(name: $0, value: $1) })
    }

    /// Sets a field, replacing the one of the same name.
    public mutating func add(_ header: HTTPHeader) { update(header) }

    /// Sets a field, replacing the one of the same name.
    public mutating func add(name: String, value: String) { update(HTTPHeader(name: name, value: value)) }

    /// Sets a field, replacing the one of the same name.
    public mutating func update(name: String, value: String) { update(HTTPHeader(name: name, value: value)) }

    /// Sets a field, replacing the one of the same name.
    public mutating func update(_ header: HTTPHeader) {
        if let index = index(of: header.name) { fields[index] = header } else { fields.append(header) }
    }

    /// Removes a field, if there is one of this name.
    public mutating func remove(name: String) {
        if let index = index(of: name) { fields.remove(at: index) }
    }

    /// Returns the value of a field; `nil` if there is none.
    public func value(for name: String) -> String? { index(of: name).map { fields[$0].value } }

    /// The value of a field; setting `nil` removes the field.
    public subscript(_ name: String) -> String? {
        get { value(for: name) }
        set { if let newValue { update(name: name, value: newValue) } else { remove(name: name) } }
    }

    /// The values by name.
    public var dictionary: [String: String] {
        Dictionary(fields.map { ($0.name, $0.value) }) { $1 }
    }

    /// Returns an iterator over the fields.
    public func makeIterator() -> IndexingIterator<[HTTPHeader]> { fields.makeIterator() }

    private func index(of name: String) -> Int? {
        fields.firstIndex { $0.name.lowercased() == name.lowercased() }
    }
}

extension HTTPHeaders: ExpressibleByDictionaryLiteral, ExpressibleByArrayLiteral {
    /// Creates a list from a dictionary literal.
    public init(dictionaryLiteral elements: (String, String)...) {
        self.init(elements.map { HTTPHeader(name: $0, value: $1) })
    }

    /// Creates a list from an array literal.
    public init(arrayLiteral elements: HTTPHeader...) {
        self.init(elements)
    }
}

extension URLRequest {
    /// The header fields of the request.
    public var headers: HTTPHeaders {
        get { HTTPHeaders(allHTTPHeaderFields ?? [:]) }
        set { allHTTPHeaderFields = newValue.dictionary }
    }
}

extension URLSessionConfiguration {
    /// The header fields that the session adds to every request.
    public var headers: HTTPHeaders {
        get { HTTPHeaders(httpAdditionalHeaders as? [String: String] ?? [:]) }
        set { httpAdditionalHeaders = newValue.dictionary }
    }
}
