import Foundation
public import HTTPTypes

/// A target made concrete: the values from which the request is built.
///
/// A provider makes one from each target; its `endpoint` closure may change it before it is encoded.
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
        set { (base, path) = (newValue, "") }
    }

    /// The method.
    public var method: HTTPRequest.Method

    /// What the request carries.
    public var task: RequestTask

    /// Header fields; names are compared without case, and of two that differ in case only the later in the order of
    /// their characters wins.
    public var httpHeaderFields: [String: String]?

    /// What a stub answers; `nil` stands for the target's `sampleData` with a status that it accepts, 200 where it can be.
    public var sampleResponse: (@Sendable () -> EndpointSampleResponse)?

    /// The URL without the path of a target, which follows it: a request is made without joining them to a text first.
    private var base: String
    private var path: String

    /// The target's ``TargetType/refusal``.
    private var refusal: PipelineError?

    /// Returns whether a request goes to the scheme, host and port of this endpoint, to which the target's credentials belong.
    ///
    /// - Parameter request: the request, which a plugin may have redirected.
    /// - Returns: `false` also if the URL of this endpoint cannot be sent to.
    public func hasOrigin(of request: PipelineRequest) -> Bool {
        if URLText.isWritten(originOf: request.head, in: base) { return true }
        guard let own = try? PipelineRequest(url: url) else { return false }
        return request.origin == own.origin
    }

    /// Makes an endpoint from its parts.
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

    /// The endpoint that a provider makes when it has no `endpoint` closure of its own.
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

    /// Returns a text with every character escaped that would not stay within one segment of a path: `/`, `%`, `?`, `#` and others.
    ///
    /// For values in a ``TargetType/path``, such as a user's name or a file's path:
    ///
    /// ```swift
    /// var path: String { "repos/\(Endpoint.pathSegment(repository))/branches/\(Endpoint.pathSegment(branch))" }
    /// ```
    ///
    /// Servers read the segments `.` and `..` as steps in the path, escaped too; an empty text makes an empty segment. Check for these.
    ///
    /// Source: RFC 3986 §3.3, https://www.rfc-editor.org/rfc/rfc3986.html#section-3.3
    public static func pathSegment(_ text: String) -> String {
        var bytes: [UInt8] = []
        PercentEncoding.append(text.utf8, to: &bytes, allowed: .segment, keepsEscapes: false)
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A copy with more header fields; a field that is there already is replaced, whatever the case of its name.
    ///
    /// Of two new names that differ in case only, the later in the order of their characters wins.
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

    /// A copy with another task.
    ///
    /// All that the target's task writes is replaced: also a query or a credential that is part of its content.
    public func replacing(task: RequestTask) -> Endpoint {
        var copy = self
        copy.task = task
        return copy
    }

    /// The request of this endpoint, before any plugin has seen it.
    ///
    /// - Returns: the request with its body.
    /// - Throws: ``PipelineError`` with code ``PipelineError/Code-swift.struct/invalidRequest(_:)`` for a URL or header
    ///   field that cannot be sent, ``PipelineError/Code-swift.struct/encoding`` for a task that cannot be encoded,
    ///   ``PipelineError/Code-swift.struct/file(_:)`` for a file in a form that cannot be read.
    public func makeRequest() throws -> PipelineRequest {
        try makeRequest(random: .system)
    }

    /// The same, with chance from the provider's generator.
    func makeRequest(
        random: PipelineRandom,
        coders: PipelineCoders? = nil,
        files: FileChecks = .immediate
    ) throws -> PipelineRequest {
        if let refusal { throw refusal }
        let target = try requestTarget()
        var request = PipelineRequest(
            head: HTTPRequest(
                method: method,
                scheme: target.scheme,
                authority: target.authority,
                path: target.pathAndQuery,
                headerFields: try httpHeaderFields.map(Self.makeFields) ?? HTTPFields()
            )
        )
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
        do {
            return try URLText.requestTarget(base: base, path: path)
        } catch {
            throw Self.failure(ofURL: url) ?? error
        }
    }

    /// Method and URL alone, for the error of a request that could not be made; `nil` when the URL is none.
    var emptyRequest: PipelineRequest? {
        guard let target = try? URLText.requestTarget(base: base, path: path) else { return nil }
        return PipelineRequest(
            head: HTTPRequest(
                method: method,
                scheme: target.scheme,
                authority: target.authority,
                path: target.pathAndQuery
            )
        )
    }

    /// The fields in the order of their names, so that the same target always makes the same bytes.
    private static func makeFields(_ dictionary: [String: String]) throws -> HTTPFields {
        var fields = HTTPFields()
        // Plugins add some.
        fields.reserveCapacity(dictionary.count + 6)
        // An array would be an allocation for each call.
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

    /// Compares names without regard to case, and those that differ in case only by their bytes.
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
