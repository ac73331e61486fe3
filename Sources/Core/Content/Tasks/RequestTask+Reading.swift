extension RequestTask {
    /// The kind of content that a task carries.
    public struct Kind: Sendable, Hashable, CustomStringConvertible {
        /// The name of the kind, which logs may show.
        public let description: String

        /// Creates a kind for your own content.
        ///
        /// - Parameter name: the name, which logs may show.
        public init(_ name: String) { description = name }

        /// The kind of ``RequestTask/requestPlain``.
        public static let plain = Self("plain")
        /// The kind of ``RequestTask/requestData(_:)``.
        public static let data = Self("data")
        /// The kind of ``RequestTask/requestJSONEncodable(_:)`` and
        /// ``RequestTask/requestCustomJSONEncodable(_:encoder:)``.
        public static let json = Self("JSON of a value")
        /// The kind of ``RequestTask/requestQuery(_:encoder:)`` and
        /// ``RequestTask/requestFormURLEncodable(_:encoder:)``.
        public static let form = Self("a value as pairs")
        /// The kind of ``RequestTask/requestParameters(parameters:encoding:)``.
        public static let parameters = Self("parameters")
        /// The kind of ``RequestTask/requestCompositeData(bodyData:urlParameters:)`` and
        /// ``RequestTask/requestCompositeParameters(bodyParameters:bodyEncoding:urlParameters:)``.
        public static let composite = Self("composite")
        /// The kind of ``RequestTask/uploadFile(_:)``.
        public static let file = Self("a file")
        /// The kind of ``RequestTask/requestStream(_:)``.
        public static let stream = Self("a stream")
        /// The kind of ``RequestTask/uploadMultipartFormData(_:)`` and its variants.
        public static let multipart = Self("a form of several parts")
        /// The kind of ``RequestTask/downloadDestination(_:)`` and
        /// ``RequestTask/downloadParameters(parameters:encoding:destination:)``.
        public static let download = Self("a download")
    }

    /// The parameters that ``encoding`` writes; `nil` if the task has none.
    public var parameters: RequestParameters? { content?.parameters }

    /// The encoding of ``parameters``; `nil` if the task has none.
    public var encoding: (any ParameterEncoding)? { content?.encoding }

    /// The body if it needs no encoding: bytes, a file or a stream; `nil` if it is encoded when the request is made.
    public var body: PipelineBody? { content?.body }

    /// Whether progress reports count the bytes of the request's body; if `false`, they count those of the response.
    public var isUpload: Bool { content?.isUpload ?? false }

    /// Returns a copy with more parameters, such as those that every request of an API needs.
    ///
    /// If the task has ``parameters``, the new ones are added to them, regardless of the encoding. Otherwise they are
    /// added to the query. A parameter that the task already has keeps its value.
    ///
    /// ```swift
    /// let provider = Provider<GitHub>(transport: URLSessionTransport()) { target in
    ///     let endpoint = Endpoint(target)
    ///     return endpoint.replacing(task: endpoint.task.adding(parameters: ["locale": "de"]))
    /// }
    /// ```
    public func adding(parameters new: RequestParameters) -> RequestTask {
        content?.adding(parameters: new).map(replacing(content:)) ?? adding(urlParameters: new)
    }
}
