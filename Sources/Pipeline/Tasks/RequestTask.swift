public import Foundation

/// What a request carries.
///
/// A Content-Type is set only where the target has not set one.
public struct RequestTask: Sendable {
    /// What ``encode(into:)`` looks at; one case for each way of carrying something.
    enum Kind: Sendable {
        case plain
        case data(Data)
        case jsonEncodable(any Encodable & Sendable, encoder: JSONEncoder?)
        case form(any Encodable & Sendable, encoder: URLFormEncoder, destination: URLEncoding.Destination)
        case parameters(RequestParameters, any ParameterEncoding)
    }

    let kind: Kind

    /// Nothing.
    public static let requestPlain = RequestTask(kind: .plain)

    /// These bytes, without a Content-Type of their own.
    public static func requestData(_ data: Data) -> RequestTask {
        RequestTask(kind: .data(data))
    }

    /// A value as JSON, `Content-Type: application/json`; keys are sorted, so that equal values give equal bytes.
    ///
    /// **Errors**: ``PipelineError/Code-swift.struct/encoding`` when the value cannot be encoded, or is nested deeper than 128
    /// levels, as a cycle of objects is.
    public static func requestJSONEncodable(_ value: any Encodable & Sendable) -> RequestTask {
        RequestTask(kind: .jsonEncodable(value, encoder: nil))
    }

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
        RequestTask(kind: .jsonEncodable(value, encoder: encoder))
    }

    /// A value's members as pairs in the query, after those that are there; no pairs leave the URL as it is.
    ///
    /// **Errors**: those of ``URLFormEncoder``.
    public static func requestQuery(
        _ value: any Encodable & Sendable,
        encoder: URLFormEncoder = URLFormEncoder()
    ) -> RequestTask {
        RequestTask(kind: .form(value, encoder: encoder, destination: .queryString))
    }

    /// A value's members as a form, `Content-Type: application/x-www-form-urlencoded; charset=utf-8`.
    ///
    /// No pairs make an empty form, which is a body.
    ///
    /// **Errors**: those of ``URLFormEncoder``.
    public static func requestFormURLEncodable(
        _ value: any Encodable & Sendable,
        encoder: URLFormEncoder = URLFormEncoder()
    ) -> RequestTask {
        RequestTask(kind: .form(value, encoder: encoder, destination: .httpBody))
    }

    /// Parameters, put where the encoding says.
    ///
    /// **Errors**: ``PipelineError/Code-swift.struct/encoding``, with the key of the parameter that cannot be encoded.
    public static func requestParameters(
        parameters: RequestParameters,
        encoding: any ParameterEncoding
    ) -> RequestTask {
        RequestTask(kind: .parameters(parameters, encoding))
    }
}
