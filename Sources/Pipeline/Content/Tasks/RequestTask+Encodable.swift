public import Foundation

extension RequestTask {
    /// A value as JSON from an encoder with strategies and a formatting of your own, `Content-Type: application/json`.
    ///
    /// Equal values give equal bytes if the encoder's formatting has `.sortedKeys`. The encoder is used when a request is made;
    /// do not change it meanwhile.
    ///
    /// **Errors**: those of ``requestJSONEncodable(_:)``.
    public static func requestCustomJSONEncodable(
        _ value: any Encodable & Sendable,
        encoder: JSONEncoder
    ) -> RequestTask {
        RequestTask(JSONContent(value: value, encoder: encoder))
    }

    /// A value's members as pairs in the query, after those that are there; no pairs leave the URL as it is.
    ///
    /// Without an encoder, ``EncodingContext/makeFormEncoder`` makes one.
    ///
    /// **Errors**: those of ``URLFormEncoder``.
    public static func requestQuery(
        _ value: any Encodable & Sendable,
        encoder: URLFormEncoder? = nil
    ) -> RequestTask {
        RequestTask(FormContent(value: value, encoder: encoder, destination: .queryString))
    }

    /// A value's members as a form, `Content-Type: application/x-www-form-urlencoded; charset=utf-8`.
    ///
    /// No pairs make an empty form, which is a body. Without an encoder it is as of ``requestQuery(_:encoder:)``.
    ///
    /// **Errors**: those of ``URLFormEncoder``.
    public static func requestFormURLEncodable(
        _ value: any Encodable & Sendable,
        encoder: URLFormEncoder? = nil
    ) -> RequestTask {
        RequestTask(FormContent(value: value, encoder: encoder, destination: .httpBody))
    }
}
