public import PipelineCore

/// A scheme by which `SigningPlugin` signs requests.
public protocol RequestSigner: Sendable {
    /// Signs a request that is about to be sent.
    ///
    /// The plugin calls this for each exchange, after every other plugin has changed the request. The scheme adds its
    /// header fields or query items, and marks fields that hold a signature or a credential as secret. Take the time
    /// from the context's clock.
    ///
    /// - Parameters:
    ///   - request: the request as it will be sent, except for the fields that a transport sets (Host, Content-Length).
    ///   - context: the context of the call.
    /// - Throws: an error if the request cannot be signed; nothing is then sent.
    func sign(_ request: inout PipelineRequest, context: PipelineContext) async throws

    /// Whether all requests are signed on behalf of one account; `false` by default.
    ///
    /// If not, responses are shared and stored only if the plugin is given the account of each call.
    var hasOneKey: Bool { get }
}

extension RequestSigner {
    /// The default: the signer may sign for several accounts.
    public var hasOneKey: Bool { false }
}
