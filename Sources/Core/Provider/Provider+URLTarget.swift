public import HTTPTypes

extension Provider where Target == URLTarget {
    /// Sends a GET request to a URL and decodes the response.
    ///
    /// ```swift
    /// let repos = try await client.get("https://api.example.com/repos", as: [Repo].self)
    /// ```
    ///
    /// - Parameters:
    ///   - url: an absolute http or https URL.
    ///   - type: the type to decode.
    ///   - authorizationType: the scheme of the access token, such as `.bearer`; `nil` sends no token.
    ///   - options: the options of this call.
    /// - Returns: the decoded value.
    /// - Throws: the errors of `request(_:as:atKeyPath:decoder:failsOnEmptyData:options:onProgress:)`, with code
    ///   ``PipelineError/Code-swift.struct/unacceptableStatus`` for a status other than 200 to 299.
    @concurrent
    public func get<Value: Decodable & SendableMetatype>(
        _ url: String,
        as type: Value.Type,
        authorizationType: AuthorizationType? = nil,
        options: RequestOptions = RequestOptions()
    ) async throws -> sending Value {
        try await request(URLTarget(url, authorizationType: authorizationType), as: type, options: options)
    }

    /// Sends a value as JSON to a URL and decodes the response.
    ///
    /// ```swift
    /// let receipt = try await client.send(order, to: "https://api.example.com/orders", as: Receipt.self)
    /// ```
    ///
    /// For a body in another form, send a ``URLTarget`` with a ``RequestTask`` of your choice.
    ///
    /// - Parameters:
    ///   - body: the value to send.
    ///   - url: an absolute http or https URL.
    ///   - method: the request method; defaults to POST.
    ///   - type: the type to decode from the response.
    ///   - authorizationType: the scheme of the access token, such as `.bearer`; `nil` sends no token.
    ///   - options: the options of this call.
    /// - Returns: the decoded value.
    /// - Throws: the errors of `get(_:as:authorizationType:options:)`; code
    ///   ``PipelineError/Code-swift.struct/encoding`` if the body cannot be encoded.
    @concurrent
    public func send<Value: Decodable & SendableMetatype>(
        _ body: some Encodable & Sendable,
        to url: String,
        method: HTTPRequest.Method = .post,
        as type: Value.Type,
        authorizationType: AuthorizationType? = nil,
        options: RequestOptions = RequestOptions()
    ) async throws -> sending Value {
        try await request(
            URLTarget(url, method: method, task: .requestJSONEncodable(body), authorizationType: authorizationType),
            as: type,
            options: options
        )
    }

    /// Sends a value as JSON to a URL for its effect, without decoding the response.
    ///
    /// The parameters and errors are those of `send(_:to:method:as:authorizationType:options:)`.
    @concurrent
    public func send(
        _ body: some Encodable & Sendable,
        to url: String,
        method: HTTPRequest.Method = .post,
        authorizationType: AuthorizationType? = nil,
        options: RequestOptions = RequestOptions()
    ) async throws {
        try await send(
            URLTarget(url, method: method, task: .requestJSONEncodable(body), authorizationType: authorizationType),
            options: options
        )
    }
}
