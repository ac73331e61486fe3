public import PipelineCore

extension TokenRefreshPlugin {
    /// The name of the plugin, which reveals no token.
    public var description: String { name }
}

extension TokenRefreshPlugin: CapabilityDeclaring {
    /// The plugin declares `PluginCapability.setsCredential`, `.setsAccessToken` and `.answersChallenges`.
    public var capabilities: Set<PluginCapability> {
        scope.capabilities.union([.setsCredential, .setsAccessToken, .answersChallenges])
    }
}

extension TokenRefreshPlugin: SignOutHandling {
    /// Removes the credential, as `setCredential(nil)` does.
    public func signOut() async { await setCredential(nil) }
}
