public import Pipeline

/// A payload that is sent as JSON, `Content-Type: application/json` where the request has none.
///
/// ```swift
/// struct SignupRequest: JSONPayload {
///     let email: String
///     let born: Date
/// }
/// APIRequest<IgnoredBody>("signup", payload: signup).method(.post)
/// ```
///
/// An array of such payloads is a payload, too.
///
/// **Errors**: those of `RequestTask.requestJSONEncodable(_:)`; nothing is sent then.
public protocol JSONPayload: APIPayload {}

extension JSONPayload {
    /// Returns a task with the value as JSON.
    public func makeTask(with coders: PipelineCoders) -> RequestTask {
        .requestCustomJSONEncodable(self, encoder: coders.jsonEncoder(for: self))
    }
}

extension Array: APIPayload, JSONPayload where Element: JSONPayload {}
