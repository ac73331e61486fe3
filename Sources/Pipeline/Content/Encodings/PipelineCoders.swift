public import Foundation

/// How a provider or an API client encodes values into requests and decodes JSON from responses.
///
/// ```swift
/// let coders = PipelineCoders(configureJSONDecoder: { $0.keyDecodingStrategy = .convertFromSnakeCase })
/// let provider = Provider<GitHub>(transport: URLSessionTransport(), configuration: .init(coders: coders))
/// ```
///
/// A decoder or an encoder that is passed with a call or a task takes precedence, then the one of the target, then these. Plugins see a
/// response before it has the coders: one that decodes a response passes a decoder.
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
/// Each use makes a coder of its own, which the closures configure. The date strategies replace those of `form` and those that the
/// closures set, except for `DateCodingStrategy.ofCoder`.
public struct PipelineCoders: Sendable {
    /// How dates are encoded.
    public var dateEncodingStrategy = DateCodingStrategy.iso8601
    /// How dates are decoded.
    public var dateDecodingStrategy = DateCodingStrategy.iso8601
    /// Queries, forms, and the names and booleans of forms with files.
    public var form = URLFormEncoder()
    /// Configures the new encoder of a value.
    public var configureJSONEncoder: @Sendable (JSONEncoder) -> Void
    /// Configures the new decoder of a response.
    public var configureJSONDecoder: @Sendable (JSONDecoder) -> Void

    /// Creates coders with the default dates and forms.
    ///
    /// - Parameters:
    ///   - configureJSONDecoder: configures the new decoder of a response.
    ///   - configureJSONEncoder: configures the new encoder of a value.
    public init(
        configureJSONDecoder: @escaping @Sendable (JSONDecoder) -> Void = { _ in },
        configureJSONEncoder: @escaping @Sendable (JSONEncoder) -> Void = { _ in }
    ) {
        self.configureJSONDecoder = configureJSONDecoder
        self.configureJSONEncoder = configureJSONEncoder
    }

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

extension PipelineCoders {
    /// Coders that the responses of a provider share.
    final class Shared: Sendable {
        let coders: PipelineCoders

        init(_ coders: PipelineCoders) {
            self.coders = coders
        }
    }

    /// Writes with these coders what has no encoder of its own.
    func apply(to context: inout RequestTask.EncodingContext) {
        context.makeJSONEncoder = { jsonEncoder(for: $0) }
        context.makeFormEncoder = { formEncoder(for: $0) }
    }
}

extension CallResult {
    /// The same result with a response that is decoded by the coders of a provider.
    func decoding(with coders: PipelineCoders.Shared?) -> CallResult {
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
