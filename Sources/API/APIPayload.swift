public import Pipeline

/// The content of an ``APIRequest``: a value together with its encoding.
///
/// Models conform to ``JSONPayload``, ``FormURLEncodedPayload`` or ``MultipartPayload``. A payload with another encoding
/// conforms to this protocol and makes the task itself.
///
/// **Errors**: `invalidRequest.body` for a body with the method GET, HEAD or TRACE.
public protocol APIPayload: Encodable, Sendable {
    /// Returns the task with the encoded value.
    ///
    /// - Parameter coders: the coders of the client, with the date strategies of the request.
    /// - Returns: the task.
    /// - Throws: any error if the value cannot be encoded; nothing is sent then.
    func makeTask(with coders: PipelineCoders) throws -> RequestTask
}
