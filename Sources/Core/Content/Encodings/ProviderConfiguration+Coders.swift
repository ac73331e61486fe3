public import Foundation

extension ProviderConfiguration {
    /// The settings with which a provider or an API client encodes values into requests and decodes JSON responses.
    ///
    /// ```swift
    /// let coders = ProviderConfiguration.Coders(configureJSONDecoder: {
    ///     $0.keyDecodingStrategy = .convertFromSnakeCase
    /// })
    /// let provider = Provider<GitHub>(transport: URLSessionTransport(), configuration: .init(coders: coders))
    /// ```
    ///
    /// A coder that is passed with a call or a task takes precedence over the target's, which takes precedence over
    /// these. Plugins see a response before these coders are attached to it, so a plugin that decodes a response must
    /// pass a decoder.
    ///
    /// **Defaults**
    ///
    /// | setting | default |
    /// |---|---|
    /// | `dateEncodingStrategy`, `dateDecodingStrategy` | `DateCodingStrategy.iso8601` |
    /// | `form` | `URLFormEncoder` |
    /// | `configureJSONEncoder` | no changes to a new `JSONEncoder` that sorts keys, so that equal values encode to equal bytes |
    /// | `configureJSONDecoder` | no changes to a new `JSONDecoder` |
    ///
    /// Each use makes a new coder, which the closures configure. The date strategies replace those of `form` and those
    /// that the closures set, except for `DateCodingStrategy.ofCoder`.
    public struct Coders: Sendable {
        /// The strategy for encoding dates; defaults to ISO 8601.
        public var dateEncodingStrategy = DateCodingStrategy.iso8601
        /// The strategy for decoding dates; defaults to ISO 8601.
        public var dateDecodingStrategy = DateCodingStrategy.iso8601
        /// The encoder of queries and forms, and of the names and booleans in multipart forms.
        public var form = URLFormEncoder()
        /// Configures the new JSON encoder of a value.
        public var configureJSONEncoder: @Sendable (JSONEncoder) -> Void
        /// Configures the new JSON decoder of a response.
        public var configureJSONDecoder: @Sendable (JSONDecoder) -> Void

        /// Creates coders with the default settings for dates and forms.
        ///
        /// - Parameters:
        ///   - configureJSONDecoder: configures the new JSON decoder of a response.
        ///   - configureJSONEncoder: configures the new JSON encoder of a value.
        public init(
            configureJSONDecoder: @escaping @Sendable (JSONDecoder) -> Void = { _ in },
            configureJSONEncoder: @escaping @Sendable (JSONEncoder) -> Void = { _ in }
        ) {
            self.configureJSONDecoder = configureJSONDecoder
            self.configureJSONEncoder = configureJSONEncoder
        }

        /// Returns the JSON encoder for a value, with the value's own date strategy if it has one.
        public func jsonEncoder(for value: any Encodable) -> JSONEncoder {
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            configureJSONEncoder(encoder)
            if let dates = dates(of: value).jsonEncoding { encoder.dateEncodingStrategy = dates }
            return encoder
        }

        /// Returns the encoder for a query or a form, with the value's own date strategy if it has one.
        public func formEncoder(for value: any Encodable) -> URLFormEncoder {
            var encoder = form
            if let dates = dates(of: value).textEncoding { encoder.dateEncoding = dates }
            return encoder
        }

        /// Returns the JSON decoder for a type, with the type's own date strategy if it has one.
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
}

extension ProviderConfiguration.Coders {
    /// The coders of a provider that has none of its own.
    static let standard = ProviderConfiguration.Coders()

    /// The coders that all responses of a provider share.
    final class Shared: Sendable {
        let coders: ProviderConfiguration.Coders

        init(_ coders: ProviderConfiguration.Coders) {
            self.coders = coders
        }
    }

    /// Makes these coders the defaults for content without its own encoder.
    func apply(to context: inout RequestTask.EncodingContext) {
        context.makeJSONEncoder = { jsonEncoder(for: $0) }
        context.makeFormEncoder = { formEncoder(for: $0) }
    }
}

extension CallResult {
    /// Returns the same result with a response that uses the provider's coders.
    func decoding(with coders: ProviderConfiguration.Coders.Shared?) -> CallResult {
        guard let coders else { return self }
        switch self {
        case .success(var response):
            response.coders = coders
            return .success(response)
        case .failure(var error):
            error.response?.coders = coders
            return .failure(error)
        }
    }
}
