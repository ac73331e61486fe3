extension RequestTask {
    /// The way in which a task carries its content.
    public struct Kind: Sendable, Hashable, CustomStringConvertible {
        /// The name of the kind.
        public let description: String

        /// Makes a kind, for content of your own.
        ///
        /// - Parameter name: the name, which logs may show.
        public init(_ name: String) { description = name }

        /// ``RequestTask/requestPlain``.
        public static let plain = Self("plain")
        /// ``RequestTask/requestData(_:)``.
        public static let data = Self("data")
        /// ``RequestTask/requestJSONEncodable(_:)`` and ``RequestTask/requestCustomJSONEncodable(_:encoder:)``.
        public static let json = Self("JSON of a value")
        /// ``RequestTask/requestQuery(_:encoder:)`` and ``RequestTask/requestFormURLEncodable(_:encoder:)``.
        public static let form = Self("a value as pairs")
        /// ``RequestTask/requestParameters(parameters:encoding:)``.
        public static let parameters = Self("parameters")
        /// ``RequestTask/requestCompositeData(bodyData:urlParameters:)`` and
        /// ``RequestTask/requestCompositeParameters(bodyParameters:bodyEncoding:urlParameters:)``.
        public static let composite = Self("composite")
        /// ``RequestTask/uploadFile(_:)``.
        public static let file = Self("a file")
        /// ``RequestTask/requestStream(_:)``.
        public static let stream = Self("a stream")
        /// ``RequestTask/uploadMultipartFormData(_:)`` and its companions.
        public static let multipart = Self("a form of several parts")
        /// ``RequestTask/downloadDestination(_:)`` and ``RequestTask/downloadParameters(parameters:encoding:destination:)``.
        public static let download = Self("a download")
    }

    /// The parameters that ``encoding`` writes; `nil` if the task has none.
    public var parameters: RequestParameters? { content?.parameters }

    /// The encoding of ``parameters``; `nil` if the task has none.
    public var encoding: (any ParameterEncoding)? { content?.encoding }

    /// The body that the task is given as it is: bytes, a file or a stream; `nil` for one that is encoded when the request is made.
    public var body: PipelineBody? { content?.body }

    /// Whether progress is that of the request's body; else it is that of the response's.
    public var isUpload: Bool { content?.isUpload ?? false }

    /// Returns a copy with more parameters, for those that every request of an API has.
    ///
    /// A task with ``parameters`` gets them there, whatever its encoding; every other task gets them in the query. A parameter
    /// that the task has already keeps its value.
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
