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

extension Response {
    /// Returns the body as JSON.
    ///
    /// - Parameter failsOnEmptyData: whether an empty body is an error; if not, it is `NSNull`.
    /// - Returns: a dictionary, an array or a fragment.
    /// - Throws: ``MoyaError/jsonMapping(_:)``.
    public func mapJSON(failsOnEmptyData: Bool = true) throws -> Any {
        if data.isEmpty, !failsOnEmptyData { return NSNull() }
        do {
            return try JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)
        } catch {
            throw MoyaError.jsonMapping(self)
        }
    }

    /// Returns the body, or the text at a key path of its JSON, as text.
    ///
    /// - Parameter keyPath: the names of members, separated by full stops; `nil` for the whole body.
    /// - Returns: the text.
    /// - Throws: ``MoyaError/stringMapping(_:)`` if the body is not UTF-8 or there is no text at the key path,
    ///   ``MoyaError/jsonMapping(_:)`` if the body is not JSON.
    public func mapString(atKeyPath keyPath: String? = nil) throws -> String {
        let text = try keyPath.map { try member(at: $0) as? String } ?? String(data: data, encoding: .utf8)
        guard let text, keyPath == nil || !data.isEmpty else { throw MoyaError.stringMapping(self) }
        return text
    }

    /// Returns the body, or the value at a key path of its JSON, as a value of a type.
    ///
    /// - Parameters:
    ///   - type: the type of the value.
    ///   - keyPath: the names of members, separated by full stops; `nil` for the whole body.
    ///   - decoder: the decoder of the value.
    ///   - failsOnEmptyData: whether an empty body is an error; if not, it decodes like `{}`, else like `[{}]`.
    /// - Returns: the decoded value.
    /// - Throws: ``MoyaError/objectMapping(_:_:)`` if the value cannot be decoded, ``MoyaError/jsonMapping(_:)`` if
    ///   there is no value at the key path.
    public func map<D: Decodable>(
        _ type: D.Type,
        atKeyPath keyPath: String? = nil,
        using decoder: JSONDecoder = JSONDecoder(),
        failsOnEmptyData: Bool = true
    ) throws -> D {
        if data.isEmpty, !failsOnEmptyData {
            for text in ["{}", "[{}]"] {
                if let value = try? decoder.decode(D.self, from: Data(text.utf8)) { return value }
            }
        }
        let json = try keyPath.map { try jsonData(at: $0) } ?? data
        do {
            return try decoder.decode(D.self, from: json)
        } catch {
            throw MoyaError.objectMapping(error, self)
        }
    }

    private func jsonData(at keyPath: String) throws -> Data {
        guard let value = try member(at: keyPath),
            let json = try? JSONSerialization.data(withJSONObject: value, options: .fragmentsAllowed)
        else { throw MoyaError.jsonMapping(self) }
        return json
    }

    /// Returns the value at a key path; `nil` if a member is missing.
    private func member(at keyPath: String) throws -> Any? {
        keyPath.split(separator: ".").reduce(try mapJSON() as Any?) { value, name in
            (value as? [String: Any])?[String(name)]
        }
    }
}

/// A step in the progress of a request; the last step has the response.
@available(swift, deprecated: 7, message: "Use ProgressResponse of Pipeline.")
public struct ProgressResponse {
    /// The response, if the request has succeeded.
    public let response: Response?

    /// The bytes that have been transferred, and their total number.
    public let progressObject: Progress?

    /// Creates a step; the last one has a response.
    public init(progress: Progress? = nil, response: Response? = nil) {
        progressObject = progress
        self.response = response
    }

    /// The progress from 0 to 1; 0 while the total is unknown.
    public var progress: Double {
        if completed { return 1 }
        guard let progressObject, progressObject.totalUnitCount > 0 else { return 0 }
        return progressObject.fractionCompleted
    }

    /// Whether the request has succeeded.
    public var completed: Bool { response != nil }
}
