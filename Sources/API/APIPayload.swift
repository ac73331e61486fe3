public import Pipeline

/// What an ``APIRequest`` carries: a value that says in which form.
///
/// Models conform to ``JSONPayload``, ``FormURLEncodedPayload`` or ``MultipartPayload``, which do the rest; a payload in a form of its own
/// conforms to this and makes the task itself.
///
/// **Errors**: `invalidRequest.body` for a body with a method that carries none: GET, which is a request's default, HEAD and TRACE.
public protocol APIPayload: Encodable, Sendable {
    /// What is carried.
    ///
    /// - Parameter coders: the client's, with the dates of the request.
    /// - Returns: the task.
    /// - Throws: any error when the value cannot be carried; nothing is sent then.
    func makeTask(with coders: PipelineCoders) throws -> RequestTask
}
