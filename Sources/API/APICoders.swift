public import Foundation
public import Pipeline

/// How values are written and read by the requests of a client.
///
/// **Defaults**
///
/// | setting | default |
/// |---|---|
/// | `dateEncodingStrategy`, `dateDecodingStrategy` | `DateCodingStrategy.iso8601` |
/// | `form` | `URLFormEncoder` |
/// | `configureJSONEncoder` | nothing more: a new `JSONEncoder` that sorts keys, so that equal values give equal bytes |
/// | `configureJSONDecoder` | nothing more: a new `JSONDecoder` |
///
/// Each use has a coder of its own, which the closures may change. The date strategies replace those of `form` and those that the
/// closures set, but for `DateCodingStrategy.ofCoder`.
///
/// ```swift
/// api.coders.configureJSONDecoder = { $0.keyDecodingStrategy = .convertFromSnakeCase }
/// ```
public struct APICoders: Sendable {
    /// How dates are written.
    public var dateEncodingStrategy = DateCodingStrategy.iso8601
    /// How dates are read.
    public var dateDecodingStrategy = DateCodingStrategy.iso8601
    /// Queries, forms, and the names and booleans of forms with files.
    public var form = URLFormEncoder()
    /// Changes the new encoder of a payload.
    public var configureJSONEncoder: @Sendable (JSONEncoder) -> Void = { _ in }
    /// Changes the new decoder of an answer.
    public var configureJSONDecoder: @Sendable (JSONDecoder) -> Void = { _ in }

    /// The defaults.
    public init() {}

    /// The encoder of JSON for a value, with the dates that it wants.
    public func jsonEncoder(for value: any Encodable) -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        configureJSONEncoder(encoder)
        if let dates = dates(of: value).jsonEncoding { encoder.dateEncodingStrategy = dates }
        return encoder
    }

    /// The encoder of a query or a form for a value, with the dates that it wants.
    public func formEncoder(for value: any Encodable) -> URLFormEncoder {
        var encoder = form
        if let dates = dates(of: value).textEncoding { encoder.dateEncoding = dates }
        return encoder
    }

    /// The decoder of JSON for a type, with the dates that it wants.
    public func jsonDecoder(for type: any Decodable.Type) -> JSONDecoder {
        let own = type as? any CustomDateDecodingStrategy.Type
        let decoder = JSONDecoder()
        configureJSONDecoder(decoder)
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
