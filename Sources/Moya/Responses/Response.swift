public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// The response to a request.
@available(swift, deprecated: 7, message: "Use PipelineResponse.")
public final class Response: CustomDebugStringConvertible, CustomStringConvertible, Equatable, Sendable {
    /// The status code, such as 200.
    public let statusCode: Int

    /// The body; empty for a download.
    public let data: Data

    /// The request, as the plugins of the provider have prepared it.
    public let request: URLRequest?

    /// The status and the header fields; `nil` for a stub without them.
    public let response: HTTPURLResponse?

    /// Creates a response from its status and its body.
    public init(statusCode: Int, data: Data, request: URLRequest? = nil, response: HTTPURLResponse? = nil) {
        self.statusCode = statusCode
        self.data = data
        self.request = request
        self.response = response
    }

    /// The status code and the length of the body.
    public var description: String { "Status Code: \(statusCode), Data Length: \(data.count)" }

    /// The same as the description.
    public var debugDescription: String { description }

    /// Returns whether two responses have equal status codes, bodies and header fields; requests are ignored.
    public static func == (one: Response, other: Response) -> Bool {
        one.statusCode == other.statusCode && one.data == other.data && one.response == other.response
    }
}

extension Response {
    /// Returns the response if its status is in a range.
    ///
    /// - Throws: ``MoyaError/statusCode(_:)``.
    public func filter<R: RangeExpression>(statusCodes: R) throws -> Response where R.Bound == Int {
        guard statusCodes.contains(statusCode) else { throw MoyaError.statusCode(self) }
        return self
    }

    /// Returns the response if it has the given status.
    ///
    /// - Throws: ``MoyaError/statusCode(_:)``.
    public func filter(statusCode: Int) throws -> Response { try filter(statusCodes: statusCode...statusCode) }

    /// Returns the response if its status is 200 to 299.
    ///
    /// - Throws: ``MoyaError/statusCode(_:)``.
    public func filterSuccessfulStatusCodes() throws -> Response { try filter(statusCodes: 200...299) }

    /// Returns the response if its status is 200 to 399.
    ///
    /// - Throws: ``MoyaError/statusCode(_:)``.
    public func filterSuccessfulStatusAndRedirectCodes() throws -> Response { try filter(statusCodes: 200...399) }
}
