public import Foundation

extension RequestTask {
    /// Creates a task that sends a value as JSON from your own encoder, with `Content-Type: application/json`.
    ///
    /// Equal values encode to equal bytes if the encoder's `outputFormatting` includes `.sortedKeys`. The encoder is
    /// used when a request is made; do not modify it in the meantime.
    ///
    /// **Errors**: the same as for ``requestJSONEncodable(_:)``.
    public static func requestCustomJSONEncodable(
        _ value: any Encodable & Sendable,
        encoder: JSONEncoder
    ) -> RequestTask {
        RequestTask(JSONContent(value: value, encoder: encoder))
    }

    /// Creates a task that appends a value's members to the query as pairs.
    ///
    /// Existing query items stay in front. If the value has no pairs, the URL stays unchanged.
    ///
    /// If `encoder` is `nil`, ``EncodingContext/makeFormEncoder`` makes one.
    ///
    /// **Errors**: the same as for ``URLFormEncoder``.
    public static func requestQuery(
        _ value: any Encodable & Sendable,
        encoder: URLFormEncoder? = nil
    ) -> RequestTask {
        RequestTask(FormContent(value: value, encoder: encoder, destination: .queryString))
    }

    /// Creates a task that sends a value's members as a form,
    /// `Content-Type: application/x-www-form-urlencoded; charset=utf-8`.
    ///
    /// If the value has no pairs, the body is an empty form. If `encoder` is `nil`, ``EncodingContext/makeFormEncoder``
    /// makes one.
    ///
    /// **Errors**: the same as for ``URLFormEncoder``.
    public static func requestFormURLEncodable(
        _ value: any Encodable & Sendable,
        encoder: URLFormEncoder? = nil
    ) -> RequestTask {
        RequestTask(FormContent(value: value, encoder: encoder, destination: .httpBody))
    }
}
