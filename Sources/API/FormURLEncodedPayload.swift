public import Pipeline

/// A payload that is sent as a form, `Content-Type: application/x-www-form-urlencoded; charset=utf-8` where the request has none.
///
/// Its members are encoded by `URLFormEncoder`, in the order of their encoding.
///
/// **Errors**: those of `URLFormEncoder`; nothing is sent then.
public protocol FormURLEncodedPayload: APIPayload {}

extension FormURLEncodedPayload {
    /// Returns a task with the value as a form.
    public func makeTask(with coders: PipelineCoders) -> RequestTask {
        .requestFormURLEncodable(self, encoder: coders.formEncoder(for: self))
    }
}
