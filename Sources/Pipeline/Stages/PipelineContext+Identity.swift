extension PipelineContext {
    /// On whose behalf the call is made, as far as plugins have said so.
    ///
    /// In the order in which they were added. Calls with different identities share no response.
    public var identities: [String] { self[CallIdentities.self] }

    /// Notes on whose behalf the call is made.
    ///
    /// A plugin that sets a credential in ``Stage/Exchange``, which no plugin outside can compare, calls this in ``Stage/Prepare``, outside of
    /// those that share or cache responses, and declares ``PluginCapability/identifiesCalls``.
    ///
    /// - Parameter identity: different for each account, such as a user name with the name of the plugin. It stays in memory and is never
    ///   shown.
    public func addIdentity(_ identity: String) {
        update(CallIdentities.self) { if !$0.contains(identity) { $0.append(identity) } }
    }
}

private enum CallIdentities: PipelineContextKey {
    static let defaultValue: [String] = []
    static let isInherited = true
}
