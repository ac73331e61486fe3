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
