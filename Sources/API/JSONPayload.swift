public import PipelineCore

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
    public func makeTask(with coders: PipelineCoders) -> RequestTask {
        .requestCustomJSONEncodable(self, encoder: coders.jsonEncoder(for: self))
    }
}

extension Array: APIPayload, JSONPayload where Element: JSONPayload {}
