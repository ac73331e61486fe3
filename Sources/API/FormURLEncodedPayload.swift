public import PipelineCore

/// A payload that is sent as a URL-encoded form.
///
/// `Content-Type` is `application/x-www-form-urlencoded; charset=utf-8` unless the request sets it. `URLFormEncoder`
/// encodes the members, in the order in which they are encoded.
///
/// **Errors**: those of `URLFormEncoder`; nothing is sent then.
public protocol FormURLEncodedPayload: APIPayload {}

extension FormURLEncodedPayload {
    /// Returns a task that carries the value as a form.
    public func makeTask(with coders: PipelineCoders) -> RequestTask {
        .requestFormURLEncodable(self, encoder: coders.formEncoder(for: self))
    }
}
