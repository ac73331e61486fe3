public import Foundation

/// How values are written and read by the requests of a client.
///
/// **Defaults**
///
/// | setting | default |
/// |---|---|
/// | `dateEncodingStrategy`, `dateDecodingStrategy` | ``DateCodingStrategy/iso8601`` |
/// | `form` | ``URLFormEncoder`` |
/// | `makeJSONEncoder` | a `JSONEncoder` that sorts keys, so that equal values give equal bytes |
/// | `makeJSONDecoder` | a `JSONDecoder` |
///
/// The date strategies replace those of `form`, and those of what the closures make, but for ``DateCodingStrategy/ofCoder``. The closures
/// are called for each use.
public struct APICoders: Sendable {
    /// How dates are written.
    public var dateEncodingStrategy = DateCodingStrategy.iso8601
    /// How dates are read.
    public var dateDecodingStrategy = DateCodingStrategy.iso8601
    /// Queries, forms, and the names and booleans of forms with files.
    public var form = URLFormEncoder()
    /// Makes the encoder of a payload.
    public var makeJSONEncoder: @Sendable () -> JSONEncoder = {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return encoder
    }
    /// Makes the decoder of an answer.
    public var makeJSONDecoder: @Sendable () -> JSONDecoder = { JSONDecoder() }

    /// The defaults.
    public init() {}

    /// The encoder of JSON for a value, with the dates that it wants.
    public func jsonEncoder(for value: any Encodable) -> JSONEncoder {
        let encoder = makeJSONEncoder()
        if let dates = dates(of: value).jsonEncoding { encoder.dateEncodingStrategy = dates }
        return encoder
    }

    /// The encoder of a query or a form for a value, with the dates that it wants.
    public func formEncoder(for value: any Encodable) -> URLFormEncoder {
        var encoder = form
        if let dates = dates(of: value).text { encoder.dateEncoding = dates }
        return encoder
    }

    /// The decoder of JSON for a type, with the dates that it wants.
    public func jsonDecoder(for type: any Decodable.Type) -> JSONDecoder {
        let own = type as? any CustomDateDecodingStrategy.Type
        let decoder = makeJSONDecoder()
        if let dates = (own?.dateDecodingStrategy ?? dateDecodingStrategy).jsonDecoding {
            decoder.dateDecodingStrategy = dates
        }
        return decoder
    }

    private func dates(of value: any Encodable) -> DateCodingStrategy {
        let own = type(of: value) as? any CustomDateEncodingStrategy.Type
        return own?.dateEncodingStrategy ?? dateEncodingStrategy
    }
}
