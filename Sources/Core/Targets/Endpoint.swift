import Foundation
public import HTTPTypes

/// The values of a target from which its request is built.
///
/// A provider makes an endpoint from each target. Its `endpoint` closure can change the endpoint before the request is
/// built.
///
/// ```swift
/// let provider = Provider<GitHub>(transport: URLSessionTransport()) { target in
///     Endpoint(target).adding(newHTTPHeaderFields: ["X-App": "shop"])
/// }
/// ```
public struct Endpoint: Sendable {
    /// The absolute URL, checked when the request is made.
    public var url: String {
        get { URLText.joining(base: base, path: path) }
        set {
            (base, path) = (newValue, "")
            if refusal?.code == .invalidRequest(.url) { refusal = nil }
        }
    }

    /// The method of the request; defaults to GET.
    public var method: HTTPRequest.Method

    /// The content of the request and the destination of its response.
    public var task: RequestTask

    /// The header fields of the request; names are compared case-insensitively.
    ///
    /// If two names differ only in case, the one that sorts later wins.
    public var httpHeaderFields: [String: String]?

    /// The response of a stub.
    ///
    /// If it is `nil`, a stub responds with the target's `sampleData` and a status that the target accepts, 200 if
    /// possible.
    public var sampleResponse: (@Sendable () -> EndpointSampleResponse)?

    /// The URL without the target's path, which is stored separately so that a request needs no joined text.
    private var base: String
    private var path: String

    /// The target's ``TargetType/refusal``.
    private var refusal: PipelineError?

    /// Returns whether a request goes to the scheme, host and port of this endpoint, where the target's credentials may
    /// be sent.
    ///
    /// - Parameter request: the request, which a plugin may have redirected.
    /// - Returns: whether the origins match; `false` if the URL of this endpoint cannot be requested.
    public func hasOrigin(of request: PipelineRequest) -> Bool {
        if URLText.isWritten(originOf: request.head, in: base) { return true }
        guard let own = try? PipelineRequest(url: url) else { return false }
        return request.origin == own.origin
    }

    /// Creates an endpoint from its values.
    public init(
        url: String,
        method: HTTPRequest.Method = .get,
        task: RequestTask = .requestPlain,
        httpHeaderFields: [String: String]? = nil,
        sampleResponse: (@Sendable () -> EndpointSampleResponse)? = nil
    ) {
        self.base = url
        self.path = ""
        self.method = method
        self.task = task
        self.httpHeaderFields = httpHeaderFields
        self.sampleResponse = sampleResponse
    }

    /// Creates the endpoint that a provider without an `endpoint` closure uses for a target.
    public init(_ target: some TargetType) {
        self.init(
            url: target.baseURL.absoluteString,
            method: target.method,
            task: target.task,
            httpHeaderFields: target.headers
        )
        path = target.path
        refusal = target.refusal
    }

    /// Returns a text with every character escaped that is not allowed in a path segment: `/`, `%`, `?`, `#` and
    /// others.
    ///
    /// Use it for values in a ``TargetType/path``, such as a user's name or a file's path:
    ///
    /// ```swift
    /// var path: String { "repos/\(Endpoint.pathSegment(repository))/branches/\(Endpoint.pathSegment(branch))" }
    /// ```
    ///
    /// A request with an empty text, `.` or `..` as such a value fails with
    /// ``PipelineError/Code-swift.struct/invalidRequest(_:)`` and `.path`, because servers take it for another path:
    /// `DELETE /users/..` would delete more than a user.
    ///
    /// Source: RFC 3986 §3.3, https://www.rfc-editor.org/rfc/rfc3986.html#section-3.3
    public static func pathSegment(_ text: String) -> String {
        // Escaped, so that it does not become a step before it is refused.
        if ["", ".", ".."].contains(text) { return text == ".." ? "%2E%2E" : "%2E" }
        var bytes: [UInt8] = []
        PercentEncoding.append(text.utf8, to: &bytes, allowed: .segment, keepsEscapes: false)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns a copy with more header fields; an existing field is replaced if its name differs at most in case.
    ///
    /// If two new names differ only in case, the one that sorts later wins.
    public func adding(newHTTPHeaderFields: [String: String]) -> Endpoint {
        guard !newHTTPHeaderFields.isEmpty else { return self }
        var copy = self
        var fields = httpHeaderFields ?? [:]
        for (name, value) in newHTTPHeaderFields.sorted(by: { $0.key < $1.key }) {
            for existing in fields.keys where existing.lowercased() == name.lowercased() {
                fields[existing] = nil
            }
            fields[name] = value
        }
        copy.httpHeaderFields = fields
        return copy
    }

    /// Returns a copy with another task.
    ///
    /// Everything that the target's task writes is replaced, including a query or a credential in its content.
    public func replacing(task: RequestTask) -> Endpoint {
        var copy = self
        copy.task = task
        return copy
    }

    /// Returns the request of this endpoint, before any plugin has seen it.
    ///
    /// - Returns: the request with its body.
    /// - Throws: ``PipelineError`` with code ``PipelineError/Code-swift.struct/invalidRequest(_:)`` for a URL or header
    ///   field that cannot be sent, ``PipelineError/Code-swift.struct/encoding`` for a task that cannot be encoded, or
    ///   ``PipelineError/Code-swift.struct/file(_:)`` for a file that cannot be read. If the target has a
    ///   ``TargetType/refusal``, throws that.
    public func makeRequest() throws -> PipelineRequest {
        try makeRequest(random: .system)
    }

    /// Makes the request with random numbers from the provider's generator.
    func makeRequest(
        random: PipelineRandom,
        coders: ProviderConfiguration.Coders? = nil,
        files: FileChecks = .immediate
    ) throws -> PipelineRequest {
        if let refusal { throw refusal }
        let target = try requestTarget()
        let fields = try httpHeaderFields.map(Self.makeFields) ?? HTTPFields()
        var request = PipelineRequest(head: target.head(method, fields))
        for field in request.headers where Redactor.soundsSecret(field.name) && !request.isSecret(field.name) {
            request.secretFields.insert(field.name)
        }
        var encoding = RequestTask.EncodingContext(random: random)
        encoding.files = files
        coders?.apply(to: &encoding)
        try task.encode(into: &request, context: encoding)
        return request
    }

    private func requestTarget() throws -> URLText.RequestTarget {
        if path.utf8.contains(UInt8(ascii: "%")), URLText.hasEscapedStep(path) {
            throw PipelineError(
                .invalidRequest(.path),
                "a value in the path is empty, . or .., which servers take for another path; check it before you make the request"
            )
        }
        if path.utf8.contains(UInt8(ascii: "?")) {
            throw PipelineError(
                .invalidRequest(.path),
                "the path contains a question mark; send a query with requestQuery or requestParameters, and pass values through Endpoint.pathSegment"
            )
        }
        if path.utf8.contains(UInt8(ascii: ".")), URLText.leavesBase(path) {
            throw PipelineError(
                .invalidRequest(.path),
                "the path leaves its base URL with ..; write the path from the base URL, or change the base URL"
            )
        }
        do {
            return try URLText.requestTarget(base: base, path: path)
        } catch {
            throw Self.failure(ofURL: url) ?? error
        }
    }

    /// A request with only the method and URL, for the error of a request that could not be made; `nil` if the URL is
    /// invalid.
    var emptyRequest: PipelineRequest? {
        (try? URLText.requestTarget(base: base, path: path)).map { PipelineRequest(head: $0.head(method)) }
    }

    /// Sorts the fields by name, so that the same target always makes the same bytes.
    private static func makeFields(_ dictionary: [String: String]) throws -> HTTPFields {
        var fields = HTTPFields()
        // Leaves room for the fields that plugins add.
        fields.reserveCapacity(dictionary.count + 6)
        // An array would cost an allocation per call.
        try withUnsafeTemporaryAllocation(of: (key: String, value: String).self, capacity: dictionary.count) { buffer in
            var sorted = buffer
            _ = sorted.initialize(from: dictionary)
            defer { sorted.deinitialize() }
            sorted.sort { precedes($0.key, $1.key) }
            for (text, value) in sorted {
                let field = try makeField(text, value)
                if fields.last?.name == field.name { fields[field.name] = nil }
                fields.append(field)
            }
        }
        return fields
    }

    /// Compares names case-insensitively, and those that differ only in case by their bytes.
    private static func precedes(_ name: String, _ other: String) -> Bool {
        for (byte, otherByte) in zip(name.utf8, other.utf8) {
            let (lower, otherLower) = (byte.lowercasedASCII, otherByte.lowercasedASCII)
            if lower != otherLower { return lower < otherLower }
        }
        return name.utf8.count == other.utf8.count ? name < other : name.utf8.count < other.utf8.count
    }

    private static func makeField(_ text: String, _ value: String) throws -> HTTPField {
        guard let name = HTTPField.Name(text) else { throw PipelineRequest.badName(text) }
        return try PipelineRequest.makeField(name, value)
    }
}

extension Endpoint: SafelyDescribed {
    /// The method and the URL, without user name, query values and fragment.
    public var description: String { "\(method) \(Redactor.standard.url(url))" }
}
