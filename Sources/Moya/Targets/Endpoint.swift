public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// The values of a target from which its request is built.
@available(swift, deprecated: 7, message: "Use Endpoint of Pipeline.")
open class Endpoint {
    /// A closure that returns the response of a stub when it is due.
    public typealias SampleResponseClosure = () -> EndpointSampleResponse

    /// The absolute URL of the request.
    public let url: String

    /// Returns the response of a stub.
    public let sampleResponseClosure: SampleResponseClosure

    /// The method of the request.
    public let method: Moya.Method

    /// The content of the request and the destination of its response.
    public let task: Task

    /// The header fields of the request.
    public let httpHeaderFields: [String: String]?

    /// Creates an endpoint from its values.
    public init(
        url: String,
        sampleResponseClosure: @escaping SampleResponseClosure,
        method: Moya.Method,
        task: Task,
        httpHeaderFields: [String: String]?
    ) {
        self.url = url
        self.sampleResponseClosure = sampleResponseClosure
        self.method = method
        self.task = task
        self.httpHeaderFields = httpHeaderFields
    }

    /// Returns a copy with more header fields; an existing field of the same name is replaced.
    open func adding(newHTTPHeaderFields: [String: String]) -> Endpoint {
        guard !newHTTPHeaderFields.isEmpty else { return copy(task, httpHeaderFields) }
        return copy(task, (httpHeaderFields ?? [:]).merging(newHTTPHeaderFields) { $1 })
    }

    /// Returns a copy with another task.
    open func replacing(task: Task) -> Endpoint {
        copy(task, httpHeaderFields)
    }

    private func copy(_ task: Task, _ fields: [String: String]?) -> Endpoint {
        Endpoint(
            url: url,
            sampleResponseClosure: sampleResponseClosure,
            method: method,
            task: task,
            httpHeaderFields: fields
        )
    }

    /// Returns the request of this endpoint, before any plugin has seen it.
    ///
    /// - Throws: ``MoyaError/requestMapping(_:)`` if the URL is invalid, ``MoyaError/parameterEncoding(_:)`` or
    ///   ``MoyaError/encodableMapping(_:)`` if the task cannot be encoded.
    public func urlRequest() throws -> URLRequest {
        guard let target = URL(string: url, encodingInvalidCharacters: false) else {
            throw MoyaError.requestMapping(url)
        }
        var request = URLRequest(url: target)
        request.httpMethod = method.rawValue
        request.allHTTPHeaderFields = httpHeaderFields
        try task.write(into: &request)
        return request
    }
}

extension Endpoint: Hashable {
    /// What makes two endpoints equal: the request, and the file or the form of an upload.
    private var key: [AnyHashable?] {
        let request = (try? urlRequest())?.content
        return [request, request == nil ? url : nil, task.file, task.form]
    }

    /// Returns whether two endpoints make equal requests with equal uploads; the destination of a download is ignored.
    public static func == (one: Endpoint, other: Endpoint) -> Bool {
        one === other || one.key == other.key
    }

    /// Hashes the request and the upload.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(key)
    }
}

/// The response or failure of a stub.
@available(swift, deprecated: 7, message: "Use EndpointSampleResponse of Pipeline.")
public enum EndpointSampleResponse {
    /// A response with a status code and a body.
    case networkResponse(Int, Data)

    /// A response with its status, header fields and URL, and a body.
    case response(HTTPURLResponse, Data)

    /// A failure of the network.
    case networkError(NSError)
}
