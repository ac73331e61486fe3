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
    func makeTask(with coders: PipelineCoders) throws -> RequestTask
}
