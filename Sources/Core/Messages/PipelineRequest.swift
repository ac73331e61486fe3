public import Foundation
public import HTTPTypes

/// A request on its way through the pipeline; cheap to copy.
///
/// Only `head` and `body` are sent; everything else is for the pipeline. The description shows the method, scheme, host
/// and path, never the query, header values or the body.
public struct PipelineRequest: Sendable {
    private struct Content: Sendable {
        var head: HTTPRequest
        var body: PipelineBody
        var secretFields: Set<HTTPField.Name>
        var secretQueryNames: Set<String> = []
        var attemptTimeout: Duration?
        var idleTimeout: Duration?
        var confidentialFields: [HTTPField] = []
    }

    // Many async frames of a call hold the request; stored inline, it would take 300 bytes in each.
    private var content: CopyOnWrite<Content>

    /// The method, scheme, authority, path with query, and header fields.
    public var head: HTTPRequest {
        _read { yield content.value.head }
        _modify { yield &content.value.head }
    }

    /// The body of the request; ``PipelineBody/absent`` if there is none.
    public var body: PipelineBody {
        _read { yield content.value.body }
        set { content.value.body = newValue }
    }

    /// The names of fields that carry a secret, in addition to Authorization, Cookie and Proxy-Authorization.
    ///
    /// These fields are dropped if a redirect leaves the origin. No log, error or recording shows their values.
    public var secretFields: Set<HTTPField.Name> {
        _read { yield content.value.secretFields }
        _modify { yield &content.value.secretFields }
    }

    /// The decoded names of query items that carry a secret, in addition to those that ``Redactor/secretNames`` covers.
    ///
    /// No log, error or recording shows their values. They stay secret after a redirect.
    public var secretQueryNames: Set<String> {
        _read { yield content.value.secretQueryNames }
        _modify { yield &content.value.secretQueryNames }
    }

    /// The longest that one exchange may take once it has a connection, more than zero; `nil` for no limit.
    ///
    /// Plugins set it as a default; ``RequestOptions/attemptTimeout`` of the call overrides it. The core enforces it
    /// for every exchange of this request and of the requests that it is redirected to.
    public var attemptTimeout: Duration? {
        get { content.value.attemptTimeout }
        set {
            Self.check(newValue, "attemptTimeout")
            content.value.attemptTimeout = newValue
        }
    }

    /// The longest that the body of a response may go without a byte, more than zero; `nil` for no limit.
    ///
    /// Plugins set it as a default; ``RequestOptions/idleTimeout`` of the call overrides it. The core enforces it like
    /// ``attemptTimeout``.
    public var idleTimeout: Duration? {
        get { content.value.idleTimeout }
        set {
            Self.check(newValue, "idleTimeout")
            content.value.idleTimeout = newValue
        }
    }

    /// Fields whose values must not be sent over http; see ``setConfidentialHeader(_:for:)``.
    var confidentialFields: [HTTPField] {
        _read { yield content.value.confidentialFields }
        _modify { yield &content.value.confidentialFields }
    }

    /// Makes a request from its head and body.
    public init(head: HTTPRequest, body: PipelineBody = .absent, secretFields: Set<HTTPField.Name> = []) {
        content = CopyOnWrite(Content(head: head, body: body, secretFields: secretFields))
    }

    /// Makes a request to an absolute http or https URL.
    ///
    /// - Throws: ``PipelineError`` with code ``PipelineError/Code-swift.struct/invalidRequest(_:)``.
    public init(
        _ method: HTTPRequest.Method = .get,
        url: String,
        headers: HTTPFields = [:],
        body: PipelineBody = .absent
    ) throws {
        self.init(head: try URLText.requestTarget(of: url).head(method, headers), body: body)
    }

    /// The HTTP method of the request.
    public var method: HTTPRequest.Method {
        get { head.method }
        set { content.value.head.method = newValue }
    }

    /// The header fields in order, including repeated ones.
    ///
    /// A CR, LF or NUL in a value is replaced by a space before the pipeline sees it;
    /// ``setHeader(_:for:isSecret:)-(_,HTTPField.Name,_)`` throws an error instead.
    public var headers: HTTPFields {
        get { head.headerFields }
        _modify { yield &content.value.head.headerFields }
    }

    /// The URL; `nil` if the scheme, authority or path is missing or malformed.
    public var url: URL? { head.url }

    /// The host with its port; `nil` if the authority is missing.
    ///
    /// If the authority cannot be sent, the user name is left out, and the text ends before the first character that a
    /// host must not contain.
    public var host: String? {
        guard let authority = head.authority else { return nil }
        if authority.utf8.allSatisfy({ ByteSet.authority.contains($0) }) { return authority }
        let host = authority.utf8.lastIndex(of: UInt8(ascii: "@")).map { authority.utf8[$0...].dropFirst() }
        return String(decoding: (host ?? authority.utf8[...]).prefix { ByteSet.authority.contains($0) }, as: UTF8.self)
    }

    /// The path without the query.
    public var path: String { String((head.path ?? "").prefix { $0 != "?" }) }

    /// The query without the question mark, percent-encoded; `nil` if there is none.
    public var query: String? {
        guard let path = head.path, let mark = path.utf8.firstIndex(of: UInt8(ascii: "?")) else { return nil }
        return String(path[path.utf8.index(after: mark)...])
    }

    /// Sets a header field, replacing all fields of that name.
    ///
    /// - Parameters:
    ///   - value: visible characters, spaces and tabs, without a blank at either end.
    ///   - name: the name of the field.
    ///   - isSecret: whether the name is added to ``secretFields``.
    /// - Throws: ``PipelineError`` with code ``PipelineError/Code-swift.struct/invalidRequest(_:)`` if the value
    ///   contains a character that is not allowed in a field. The error names the field, never the value.
    public mutating func setHeader(_ value: String, for name: HTTPField.Name, isSecret: Bool = false) throws {
        let field = try Self.makeField(name, value)
        if headers.contains(name) {
            content.value.head.headerFields[fields: name] = [field]
        } else {
            content.value.head.headerFields.append(field)
        }
        if isSecret { markSecret(name) }
    }

    /// Sets a header field whose name is a string, replacing all fields of that name; the case of the name is ignored.
    ///
    /// ```swift
    /// try request.setHeader(date, for: "X-Date")
    /// ```
    ///
    /// - Throws: ``PipelineError`` with code ``PipelineError/Code-swift.struct/invalidRequest(_:)``: `headerName` if
    ///   the name is not a token, `headerValue` as for a name of type `HTTPField.Name`.
    public mutating func setHeader(_ value: String, for name: String, isSecret: Bool = false) throws {
        guard let name = HTTPField.Name(name) else { throw Self.badName(name) }
        try setHeader(value, for: name, isSecret: isSecret)
    }

    /// Returns the value of a header field, with repeated values joined by `, `; `nil` if there is none.
    public func header(_ name: String) -> String? { HTTPField.Name(name).flatMap { headers[$0] } }

    /// Returns whether a field of this name carries a secret.
    public func isSecret(_ name: HTTPField.Name) -> Bool {
        name == .authorization || name == .cookie || name == .proxyAuthorization || secretFields.contains(name)
    }

    /// Appends pairs to the query and keeps the existing ones.
    ///
    /// - Parameter text: percent-encoded `name=value` pairs joined by `&`; an empty text changes nothing.
    public mutating func appendQuery(_ text: String) {
        guard !text.isEmpty else { return }
        var path = head.path ?? "/"
        if let mark = path.utf8.firstIndex(of: UInt8(ascii: "?")) {
            let isOpen = path.utf8.index(after: mark) == path.utf8.endIndex || path.utf8.last == UInt8(ascii: "&")
            path += isOpen ? text : "&" + text
        } else {
            path += "?" + text
        }
        head.path = path
    }

    /// Sets Content-Type if the request has none.
    public mutating func setContentTypeIfAbsent(_ value: String) {
        guard !head.headerFields.contains(.contentType) else { return }
        head.headerFields.append(HTTPField(name: .contentType, value: value))
    }

    private mutating func markSecret(_ name: HTTPField.Name) {
        if content.value.secretFields.isEmpty {
            content.value.secretFields = name == .authorization ? Self.authorization : [name]
        } else {
            content.value.secretFields.insert(name)
        }
    }

    /// Shared by all requests without another secret field, which saves each of them a set.
    private static let authorization: Set<HTTPField.Name> = [.authorization]

    func attemptTimeout(in options: RequestOptions) -> Duration? {
        options.attemptTimeout ?? attemptTimeout
    }

    func idleTimeout(in options: RequestOptions) -> Duration? {
        options.idleTimeout ?? idleTimeout
    }

    static func check(_ timeout: Duration?, _ name: String) {
        if let timeout { precondition(timeout > .zero, "\(name) is \(timeout), not more than zero") }
    }

    /// Returns the error for a name that is not a token.
    ///
    /// It quotes the name only up to the first bad character: a whole line in place of a name may contain a secret.
    static func badName(_ text: String) -> PipelineError {
        let start = text.prefix { HTTPField.Name(String($0)) != nil }
        return PipelineError(
            .invalidRequest(.headerName),
            "the header field name that begins with \(String(start).quotedExcerpt) is not a token"
        )
    }

    /// Makes a field; throws, instead of cleaning the value, if the value could split the request.
    static func makeField(_ name: HTTPField.Name, _ value: String) throws -> HTTPField {
        guard HTTPField.isValidValue(value) else { throw RequestValidation.invalidValue(of: name) }
        return HTTPField(name: name, value: value)
    }
}

extension PipelineRequest: SafelyDescribed {
    /// The method, scheme, host and path.
    public var description: String {
        "\(method) \(head.scheme ?? "")://\(host ?? "")\(path)"
    }
}
