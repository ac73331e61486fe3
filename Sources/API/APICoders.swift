public import Foundation
public import Pipeline

/// The encoders and decoders of a client's requests.
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
/// Each use gets a new coder, which the closures may configure. The date strategies replace those of `form` and those that the
/// closures set, except `DateCodingStrategy.ofCoder`.
///
/// ```swift
/// api.coders.configureJSONDecoder = { $0.keyDecodingStrategy = .convertFromSnakeCase }
/// ```
public struct APICoders: Sendable {
    /// The encoding of dates.
    public var dateEncodingStrategy = DateCodingStrategy.iso8601
    /// The decoding of dates.
    public var dateDecodingStrategy = DateCodingStrategy.iso8601
    /// The encoder of queries and forms, and of names and booleans in multipart forms.
    public var form = URLFormEncoder()
    /// Configures the new encoder of a payload.
    public var configureJSONEncoder: @Sendable (JSONEncoder) -> Void = { _ in }
    /// Configures the new decoder of a response.
    public var configureJSONDecoder: @Sendable (JSONDecoder) -> Void = { _ in }

    /// Creates coders with the defaults.
    public init() {}

    /// Returns the JSON encoder for a value, with the date strategy of its type if it has one.
    public func jsonEncoder(for value: any Encodable) -> JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        configureJSONEncoder(encoder)
        if let dates = dates(of: value).jsonEncoding { encoder.dateEncodingStrategy = dates }
        return encoder
    }

    /// Returns the encoder of queries and forms for a value, with the date strategy of its type if it has one.
    public func formEncoder(for value: any Encodable) -> URLFormEncoder {
        var encoder = form
        if let dates = dates(of: value).textEncoding { encoder.dateEncoding = dates }
        return encoder
    }

    /// Returns the JSON decoder for a type, with the date strategy of the type if it has one.
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
