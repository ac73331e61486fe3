extension PipelineContext {
    /// The identities on whose behalf the call is made, in the order in which plugins added them.
    ///
    /// Calls with different identities do not share a response.
    public var identities: [String] { self[CallIdentities.self] }

    /// Adds an identity on whose behalf the call is made.
    ///
    /// A plugin that sets a credential in ``Stage/Exchange`` calls this in ``Stage/Prepare``, because no plugin outside
    /// can compare that credential. It must be outside the plugins that share or cache responses, and declare
    /// ``PluginCapability/identifiesCalls``.
    ///
    /// - Parameter identity: a string that differs for each account, such as a user name combined with the name of the
    ///   plugin. It stays in memory and is never shown.
    public func addIdentity(_ identity: String) {
        update(CallIdentities.self) { if !$0.contains(identity) { $0.append(identity) } }
    }
}

private enum CallIdentities: PipelineContextKey {
    static let defaultValue: [String] = []
    static let isInherited = true
}
