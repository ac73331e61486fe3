public import Foundation

extension RequestTask {
    /// The source of randomness and the default encoders with which content is encoded.
    ///
    /// A layer with its own encoder settings changes a copy before it encodes the tasks that it wraps.
    public struct EncodingContext: Sendable {
        /// The source of random numbers, from the provider's generator.
        public var random: PipelineRandom
        /// Makes the JSON encoder for a value; defaults to that of ``ProviderConfiguration/Coders``.
        public var makeJSONEncoder: @Sendable (any Encodable) -> JSONEncoder = {
            ProviderConfiguration.Coders.standard.jsonEncoder(for: $0)
        }
        /// Makes the encoder for a value in a query or a form; defaults to that of ``ProviderConfiguration/Coders``.
        public var makeFormEncoder: @Sendable (any Encodable) -> URLFormEncoder = {
            ProviderConfiguration.Coders.standard.formEncoder(for: $0)
        }

        /// When the files of the content are checked.
        var files = FileChecks.immediate

        /// Creates a context with the default encoders.
        public init(random: PipelineRandom = .system) {
            self.random = random
        }
    }
}
