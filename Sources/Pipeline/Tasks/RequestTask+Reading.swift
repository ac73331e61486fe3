extension RequestTask {
    /// The way in which a task carries its content.
    public struct Kind: Sendable, Hashable, CustomStringConvertible {
        let rawValue: String

        /// The name of the kind.
        public var description: String { rawValue }

        /// ``RequestTask/requestPlain``.
        public static let plain = Self(rawValue: "plain")
        /// ``RequestTask/requestData(_:)``.
        public static let data = Self(rawValue: "data")
        /// ``RequestTask/requestJSONEncodable(_:)`` and ``RequestTask/requestCustomJSONEncodable(_:encoder:)``.
        public static let json = Self(rawValue: "JSON of a value")
        /// ``RequestTask/requestQuery(_:encoder:)`` and ``RequestTask/requestFormURLEncodable(_:encoder:)``.
        public static let form = Self(rawValue: "a value as pairs")
        /// ``RequestTask/requestParameters(parameters:encoding:)``.
        public static let parameters = Self(rawValue: "parameters")
        /// ``RequestTask/requestCompositeData(bodyData:urlParameters:)`` and
        /// ``RequestTask/requestCompositeParameters(bodyParameters:bodyEncoding:urlParameters:)``.
        public static let composite = Self(rawValue: "composite")
        /// ``RequestTask/uploadFile(_:)``.
        public static let file = Self(rawValue: "a file")
        /// ``RequestTask/requestStream(_:)``.
        public static let stream = Self(rawValue: "a stream")
        /// ``RequestTask/uploadMultipartFormData(_:)`` and its companions.
        public static let multipart = Self(rawValue: "a form of several parts")
        /// ``RequestTask/downloadDestination(_:)`` and ``RequestTask/downloadParameters(parameters:encoding:destination:)``.
        public static let download = Self(rawValue: "a download")
        /// The query and the payload of an ``APIRequest``.
        public static let api = Self(rawValue: "what an APIRequest carries")
    }

    /// The way in which the task carries its content.
    public var kind: Kind {
        switch content {
        case .plain: .plain
        case .data: .data
        case .jsonEncodable: .json
        case .form: .form
        case .parameters: .parameters
        case .composite, .compositeParameters: .composite
        case .file: .file
        case .stream: .stream
        case .multipart: .multipart
        case .download: .download
        case .api: .api
        }
    }

    /// The parameters that ``encoding`` writes; `nil` if the task has none.
    public var parameters: RequestParameters? {
        switch content {
        case .parameters(let parameters, _), .compositeParameters(let parameters, _, _),
            .download(let parameters, _?, _):
            parameters
        case .api(let parts): parts.task?.parameters
        default: nil
        }
    }

    /// The encoding of ``parameters``; `nil` if the task has none.
    public var encoding: (any ParameterEncoding)? {
        switch content {
        case .parameters(_, let encoding), .compositeParameters(_, let encoding, _): encoding
        case .download(_, let encoding, _): encoding
        case .api(let parts): parts.task?.encoding
        default: nil
        }
    }

    /// The parameters that the task adds to the query as ``URLEncoding/queryString`` does, besides ``parameters``.
    public var urlParameters: RequestParameters {
        switch content {
        case .composite(_, let query), .compositeParameters(_, _, let query), .multipart(_, let query):
            query.merging(extraQuery) { own, _ in own }
        default: extraQuery
        }
    }

    /// The body that the task is given as it is: bytes, a file or a stream; `nil` for one that is encoded when the request is made.
    public var body: PipelineBody? {
        switch content {
        case .data(let data), .composite(let data, _): .bytes(data)
        case .file(let url): .file(url)
        case .stream(let body): body
        case .api(let parts): parts.task?.body
        default: nil
        }
    }

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
        var copy = self
        switch content {
        case .parameters(let own, let encoding):
            copy = RequestTask(.parameters(own.merging(new) { own, _ in own }, encoding))
        case .compositeParameters(let own, let encoding, let query):
            copy = RequestTask(.compositeParameters(own.merging(new) { own, _ in own }, encoding, query: query))
        case .download(let own, let encoding?, let destination):
            copy = RequestTask(.download(own.merging(new) { own, _ in own }, encoding, destination))
        case .api(var parts) where parts.task?.parameters != nil:
            parts.task = parts.task?.adding(parameters: new)
            copy = RequestTask(.api(parts))
        default:
            let own = urlParameters
            copy.extraQuery.merge(new.filter { own[$0.key] == nil }) { own, _ in own }
            return copy
        }
        copy.extraQuery = extraQuery
        return copy
    }
}
