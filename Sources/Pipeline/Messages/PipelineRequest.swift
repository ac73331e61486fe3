public import Foundation
public import HTTPTypes

/// A request on its way through the pipeline; cheap to copy.
///
/// What goes to the wire is `head` and `body`; everything else is for the pipeline. Its description shows method, scheme,
/// host and path, never the query, header values or the body.
public struct PipelineRequest: Sendable {
    private struct Content: Sendable {
        var head: HTTPRequest
        var body: PipelineBody
        var secretFields: Set<HTTPField.Name>
        var attemptTimeout: Duration?
        var idleTimeout: Duration?
        var confidentialFields: [HTTPField] = []
    }

    // Many async frames of a call hold the request; in place it would be 300 bytes in each.
    private var content: CopyOnWrite<Content>

    /// Method, scheme, authority, path with query, and header fields.
    public var head: HTTPRequest {
        _read { yield content.value.head }
        _modify { yield &content.value.head }
    }

    /// The body.
    public var body: PipelineBody {
        _read { yield content.value.body }
        set { content.value.body = newValue }
    }

    /// Names of fields that carry a secret, besides Authorization, Cookie and Proxy-Authorization.
    ///
    /// They are dropped when a redirect leaves the origin, and shown by no log, error or recording.
    public var secretFields: Set<HTTPField.Name> {
        _read { yield content.value.secretFields }
        _modify { yield &content.value.secretFields }
    }

    /// The longest that one exchange may take once it has a connection, unless ``RequestOptions/attemptTimeout`` of the call says
    /// otherwise.
    ///
    /// For plugins that have a default. The core enforces it, for every exchange of this request and of those that it is
    /// redirected to. More than zero; `nil` for no limit.
    public var attemptTimeout: Duration? {
        get { content.value.attemptTimeout }
        set {
            Self.check(newValue, "attemptTimeout")
            content.value.attemptTimeout = newValue
        }
    }

    /// The longest that the body of an answer may go without a byte, unless ``RequestOptions/idleTimeout`` of the call says
    /// otherwise.
    ///
    /// As ``attemptTimeout``.
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

    /// Makes a request.
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
        let target = try URLText.requestTarget(of: url)
        self.init(
            head: HTTPRequest(
                method: method,
                scheme: target.scheme,
                authority: target.authority,
                path: target.pathAndQuery,
                headerFields: headers
            ),
            body: body
        )
    }

    /// The method.
    public var method: HTTPRequest.Method {
        get { head.method }
        set { content.value.head.method = newValue }
    }

    /// The header fields, in order, repeats kept.
    ///
    /// A CR, LF or NUL written here is replaced by a space before the pipeline can see it; ``setHeader(_:for:isSecret:)-(_,HTTPField.Name,_)``
    /// refuses it instead.
    public var headers: HTTPFields {
        get { head.headerFields }
        _modify { yield &content.value.head.headerFields }
    }

    /// The URL, `nil` when scheme, authority or path is missing or malformed.
    public var url: URL? { head.url }

    /// The host with its port; of an authority that cannot be sent, no user name and only what may stand in a host.
    public var host: String? {
        guard let authority = head.authority else { return nil }
        if authority.utf8.allSatisfy({ ByteSet.authority.contains($0) }) { return authority }
        let host = authority.utf8.lastIndex(of: UInt8(ascii: "@")).map { authority.utf8[$0...].dropFirst() }
        return String(decoding: (host ?? authority.utf8[...]).prefix { ByteSet.authority.contains($0) }, as: UTF8.self)
    }

    /// The path without the query.
    public var path: String { String((head.path ?? "").prefix { $0 != "?" }) }

    /// The query without the question mark, percent-encoded; `nil` when there is none.
    public var query: String? {
        guard let path = head.path, let mark = path.utf8.firstIndex(of: UInt8(ascii: "?")) else { return nil }
        return String(path[path.utf8.index(after: mark)...])
    }

    /// Sets a header field, replacing all of that name.
    ///
    /// - Parameters:
    ///   - value: the value; visible characters, spaces and tabs, not blank at either end.
    ///   - name: the name.
    ///   - isSecret: whether the field is added to ``secretFields``.
    /// - Throws: ``PipelineError`` with code ``PipelineError/Code-swift.struct/invalidRequest(_:)`` when the value has a
    ///   character that may not stand in a field. The error names the field, never the value.
    public mutating func setHeader(_ value: String, for name: HTTPField.Name, isSecret: Bool = false) throws {
        let field = try Self.makeField(name, value)
        if headers.contains(name) {
            content.value.head.headerFields[fields: name] = [field]
        } else {
            content.value.head.headerFields.append(field)
        }
        if isSecret { markSecret(name) }
    }

    /// Sets a header field whose name is a text, replacing all of that name; the case of a name does not matter.
    ///
    /// ```swift
    /// try request.setHeader(date, for: "X-Date")
    /// ```
    ///
    /// - Throws: ``PipelineError`` with code ``PipelineError/Code-swift.struct/invalidRequest(_:)``: `headerName` for a name that is
    ///   not a token, `headerValue` as for a name of type `HTTPField.Name`.
    public mutating func setHeader(_ value: String, for name: String, isSecret: Bool = false) throws {
        guard let name = HTTPField.Name(name) else { throw Self.badName(name) }
        try setHeader(value, for: name, isSecret: isSecret)
    }

    /// Returns the value of a header field, several of that name joined by `, `; `nil` if there is none.
    public func header(_ name: String) -> String? { HTTPField.Name(name).flatMap { headers[$0] } }

    /// Whether a field of this name carries a secret.
    public func isSecret(_ name: HTTPField.Name) -> Bool {
        name == .authorization || name == .cookie || name == .proxyAuthorization || secretFields.contains(name)
    }

    /// Appends pairs to the query, keeping what is there.
    ///
    /// - Parameter text: percent-encoded `name=value` pairs joined by `&`; an empty one changes nothing.
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

    /// Sets Content-Type where there is none.
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

    /// Shared by all requests that have no other secret field, so that none makes a set of its own.
    private static let authorization: Set<HTTPField.Name> = [.authorization]

    func attemptTimeout(in options: RequestOptions) -> Duration? {
        options.attemptTimeout ?? attemptTimeout
    }

    func idleTimeout(in options: RequestOptions) -> Duration? {
        options.idleTimeout ?? idleTimeout
    }

    private static func check(_ timeout: Duration?, _ name: String) {
        if let timeout { precondition(timeout > .zero, "\(name) is \(timeout), not more than zero") }
    }

    /// The failure of a name that is not a token.
    ///
    /// It quotes no further than the first bad character: a whole line in place of a name has a secret in it.
    static func badName(_ text: String) -> PipelineError {
        let start = text.prefix { HTTPField.Name(String($0)) != nil }
        return PipelineError(
            .invalidRequest(.headerName),
            "the header field name that begins with \(String(start).quotedExcerpt) is not a token"
        )
    }

    /// A field whose value is refused, not cleaned, when it could split the request.
    static func makeField(_ name: HTTPField.Name, _ value: String) throws -> HTTPField {
        guard HTTPField.isValidValue(value) else { throw RequestValidation.invalidValue(of: name) }
        return HTTPField(name: name, value: value)
    }
}

extension PipelineRequest: SafelyDescribed {
    /// Method, scheme, host and path.
    public var description: String {
        "\(method) \(head.scheme ?? "")://\(host ?? "")\(path)"
    }
}
