public import Foundation

extension RequestTask {
    /// What content is encoded with: a source of randomness, and the encoders of tasks that have none of their own.
    ///
    /// A layer that has settings for encoders changes a copy before it encodes the tasks that it wraps.
    public struct EncodingContext: Sendable {
        /// Random numbers, from the provider's generator.
        public var random: PipelineRandom
        /// Makes the encoder of JSON for a value; defaults to a new one that sorts keys, so that equal values give equal bytes.
        public var makeJSONEncoder: @Sendable (any Encodable) -> JSONEncoder = { _ in
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            return encoder
        }
        /// Makes the encoder of a query or a form for a value; defaults to a ``URLFormEncoder`` without settings.
        public var makeFormEncoder: @Sendable (any Encodable) -> URLFormEncoder = { _ in URLFormEncoder() }

        /// When the files of the content are checked.
        var files = FileChecks.immediate

        /// Creates a context with the default encoders.
        public init(random: PipelineRandom = .system) {
            self.random = random
        }
    }
}
