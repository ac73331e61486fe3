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
        RequestTask(.jsonEncodable(value, encoder: encoder))
    }

    /// A value's members as pairs in the query, after those that are there; no pairs leave the URL as it is.
    ///
    /// Without an encoder it is that of the client for an ``APIRequest``, else a ``URLFormEncoder`` as it is made.
    ///
    /// **Errors**: those of ``URLFormEncoder``.
    public static func requestQuery(
        _ value: any Encodable & Sendable,
        encoder: URLFormEncoder? = nil
    ) -> RequestTask {
        RequestTask(.form(value, encoder: encoder, destination: .queryString))
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
        RequestTask(.form(value, encoder: encoder, destination: .httpBody))
    }

    /// The levels of nesting that become JSON; `JSONEncoder` itself has no bound but the stack.
    private static let maximumJSONDepth = 128

    /// The value as JSON, with sorted keys when no encoder is given.
    static func json(_ value: any Encodable & Sendable, _ encoder: JSONEncoder?) throws -> Data {
        let encoder = encoder ?? JSONEncoder.withSortedKeys
        do {
            try TreeEncoder.checkDepth(of: value, maximum: maximumJSONDepth, userInfo: encoder.userInfo)
            return try encoder.encode(value)
        } catch let error as PipelineError {
            throw error
        } catch {
            throw PipelineError.encodingFailed(
                error,
                "a value of type \(type(of: value)) could not be encoded as JSON"
            )
        }
    }
}

extension JSONEncoder {
    fileprivate static var withSortedKeys: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return encoder
    }
}
