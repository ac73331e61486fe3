#if Crypto || canImport(CryptoKit)
public import HTTPTypes
import RawStructuredFieldValues

/// A part of a message that a signature covers.
///
/// ```swift
/// let components: [SignatureComponent] = [.method, .targetURI, .field(.contentType), .contentDigest]
/// let ofResponse: [SignatureComponent] = [.status, .contentDigest, .method.ofRequest]
/// ```
///
/// Trailer fields (`tr`) are not supported.
///
/// Source: RFC 9421 §2, https://www.rfc-editor.org/rfc/rfc9421.html#section-2
public struct SignatureComponent: Sendable, Hashable, CustomStringConvertible {
    /// What is signed of a field.
    public struct FieldForm: Sendable, Hashable {
        enum Kind: Sendable, Hashable {
            case text
            case structured
            case member(String)
            case binary
        }

        let kind: Kind

        /// The value as sent.
        public static let text = Self(kind: .text)
        /// The value in the normal form of its structured type (`sf`), for fields of a registered type.
        public static let structured = Self(kind: .structured)
        /// The bytes of each line (`bs`), for fields that cannot be combined, such as Set-Cookie.
        public static let binary = Self(kind: .binary)
        /// One member of a dictionary (`key`).
        public static func member(_ key: String) -> Self { Self(kind: .member(key)) }
    }

    /// The name: of a field, in lower case, or of a derived component, with an at sign.
    let name: String
    /// The structured form is `true` with a member, too, if an identifier has both `sf` and `key`.
    var isStructured = false
    var key: String?
    var isBinary = false
    /// The name of a query parameter, percent-encoded.
    var parameterName: String?
    var isOfRequest = false

    init(name: String) { self.name = name }

    /// The method, such as `GET`.
    public static let method = Self(name: "@method")
    /// The whole URL, with the scheme, authority, path and query.
    public static let targetURI = Self(name: "@target-uri")
    /// The host in lower case, with the port unless it is the scheme's default.
    public static let authority = Self(name: "@authority")
    /// The scheme, such as `https`.
    public static let scheme = Self(name: "@scheme")
    /// The path with the query, as in the request line of HTTP/1.1.
    public static let requestTarget = Self(name: "@request-target")
    /// The path without the query.
    public static let path = Self(name: "@path")
    /// The query with its question mark, which is signed even if there is no query.
    public static let query = Self(name: "@query")
    /// The status of a response.
    public static let status = Self(name: "@status")
    /// The field Content-Digest, which covers the body.
    public static let contentDigest = Self(name: "content-digest")

    /// One parameter of the query, whose name must occur exactly once; the name is not percent-encoded here.
    public static func queryParameter(_ name: String) -> Self {
        var component = Self(name: "@query-param")
        component.parameterName = SignedTarget.encoded(name)
        return component
    }

    /// A header field, whose lines are combined.
    public static func field(_ name: HTTPField.Name, _ form: FieldForm = .text) -> Self {
        var component = Self(name: name.canonicalName)
        switch form.kind {
        case .text: break
        case .structured: component.isStructured = true
        case .member(let key): component.key = key
        case .binary: component.isBinary = true
        }
        return component
    }

    /// The same component of the request that led to a signed response (`req`).
    public var ofRequest: Self {
        var component = self
        component.isOfRequest = true
        return component
    }

    /// Whether the name is that of a derived component.
    var isDerived: Bool { name.hasPrefix("@") }

    /// Whether the component is Content-Digest of the signed message itself, or a member of it.
    var coversBody: Bool { name == "content-digest" && !isOfRequest }

    /// The identifier, such as `"@query-param";name="id"`.
    public var description: String { (try? StructuredFields.text(of: item)) ?? "\"\(name)\"" }

    /// The identifier as an item of Signature-Input.
    var item: Item {
        var parameters = OrderedMap<String, RFC9651BareItem>()
        if isStructured { parameters["sf"] = true }
        if let key { parameters["key"] = .string(key) }
        if isBinary { parameters["bs"] = true }
        if let parameterName { parameters["name"] = .string(parameterName) }
        if isOfRequest { parameters["req"] = true }
        return Item(bareItem: .string(name), parameters: parameters)
    }

    /// Reads an identifier, whose parameters may be in any order.
    init(_ item: Item) throws(MessageSignatureError) {
        guard case .string(let name) = item.rfc9651BareItem, !name.isEmpty, name == name.lowercased(),
            name != "@signature-params"
        else { throw MessageSignatureError(.malformed) }
        self.name = name
        for (parameter, value) in item.rfc9651Parameters {
            switch (parameter, value) {
            case ("sf", .bool(true)): isStructured = true
            case ("key", .string(let text)): key = text
            case ("bs", .bool(true)): isBinary = true
            case ("name", .string(let text)) where name == "@query-param": parameterName = text
            case ("req", .bool(true)): isOfRequest = true
            default: throw MessageSignatureError(.unsupportedComponent, try? StructuredFields.text(of: item))
            }
        }
        let isFormed = isStructured || key != nil || isBinary
        guard !(isDerived && isFormed), !(isBinary && (isStructured || key != nil)),
            (name == "@query-param") == (parameterName != nil)
        else { throw MessageSignatureError(.unsupportedComponent, description) }
    }
}
#endif
