#if !AsyncHTTPClient
public import PipelineCore

// Without the trait, a use does not compile, and the error says what is missing.

/// Unavailable: needs the package trait `AsyncHTTPClient`.
public struct AsyncHTTPClientTransport: Transport {
    /// Whether it decodes content; never read.
    public let decodesContent = false

    /// Unavailable: needs the package trait `AsyncHTTPClient`.
    @available(*, unavailable, message: "add traits: [\"AsyncHTTPClient\"] to .package(…) of Pipeline in Package.swift")
    public init() {}

    /// Throws, and is never called.
    public func send(_ request: PipelineRequest, context: PipelineContext) async throws -> PipelineResponse {
        throw PipelineError(.transport, "")
    }
}
#endif
