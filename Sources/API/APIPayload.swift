public import PipelineCore

/// The content of an ``APIRequest``: a value together with its encoding.
///
/// Models conform to ``JSONPayload``, ``FormURLEncodedPayload`` or ``MultipartPayload``. A payload with another
/// encoding conforms to `APIPayload` and makes the task itself.
///
/// **Errors**: `invalidRequest.body` if the payload has a body and the method is GET, HEAD or TRACE.
public protocol APIPayload: Encodable, Sendable {
    /// Returns a task that carries the encoded value.
    ///
    /// - Parameter coders: the client's coders, with the date strategies of the request.
    /// - Returns: the task.
    /// - Throws: any error if the value cannot be encoded; nothing is sent then.
    func makeTask(with coders: ProviderConfiguration.Coders) throws -> RequestTask
}

/// A payload that is sent as JSON; `Content-Type` is `application/json` unless the request sets it.
///
/// ```swift
/// struct SignupRequest: JSONPayload {
///     let email: String
///     let born: Date
/// }
/// APIRequest<IgnoredBody>("signup", payload: signup).method(.post)
/// ```
///
/// An array of such payloads is also a payload.
///
/// **Errors**: those of `RequestTask.requestJSONEncodable(_:)`; nothing is sent then.
public protocol JSONPayload: APIPayload {}

extension JSONPayload {
    /// Returns a task that carries the value as JSON.
    public func makeTask(with coders: ProviderConfiguration.Coders) -> RequestTask {
        .requestCustomJSONEncodable(self, encoder: coders.jsonEncoder(for: self))
    }
}

extension Array: APIPayload, JSONPayload where Element: JSONPayload {}

/// A payload that is sent as a URL-encoded form.
///
/// `Content-Type` is `application/x-www-form-urlencoded; charset=utf-8` unless the request sets it. `URLFormEncoder`
/// encodes the members, in the order in which they are encoded.
///
/// **Errors**: those of `URLFormEncoder`; nothing is sent then.
public protocol FormURLEncodedPayload: APIPayload {}

extension FormURLEncodedPayload {
    /// Returns a task that carries the value as a form.
    public func makeTask(with coders: ProviderConfiguration.Coders) -> RequestTask {
        .requestFormURLEncodable(self, encoder: coders.formEncoder(for: self))
    }
}

/// A payload that is sent as a multipart form, `multipart/form-data`.
///
/// ```swift
/// struct NewPost: MultipartPayload {
///     let text: String
///     let images: [FormFile]
///     let video: FormFile?
/// }
/// ```
///
/// `MultipartFormData.init(encoding:using:)` describes how its members become parts.
///
/// **Errors**: those of that initializer and of `MultipartFormData`; nothing is sent then.
public protocol MultipartPayload: APIPayload {}

extension MultipartPayload {
    /// Returns a task that carries the value as a multipart form.
    public func makeTask(with coders: ProviderConfiguration.Coders) throws -> RequestTask {
        .uploadMultipartFormData(try MultipartFormData(encoding: self, using: coders.formEncoder(for: self)))
    }
}
