extension PipelineContext {
    private enum UnverifiedContent: PipelineContextKey { static let defaultValue = false }

    /// Whether the transport has decoded the body of a response without noticing if it ends early.
    ///
    /// A transport sets it before it returns the response. A plugin must then neither store the response nor combine it
    /// with another. Defaults to `false`.
    public var hasUnverifiedContent: Bool {
        get { self[UnverifiedContent.self] }
        nonmutating set { update(UnverifiedContent.self) { $0 = newValue } }
    }

    private enum Replayed: PipelineContextKey { static let defaultValue = false }

    /// Whether the last response came from a recording that is replayed without its delays.
    ///
    /// A transport sets it before it returns a response or throws an error. If it is `true`, a plugin must not wait for
    /// the server, even if Retry-After asks for a wait. Defaults to `false`.
    public var isReplayed: Bool {
        get { self[Replayed.self] }
        nonmutating set { update(Replayed.self) { $0 = newValue } }
    }
}
