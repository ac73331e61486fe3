public import Pipeline

extension TokenRefreshPlugin {
    /// The plugin's name.
    public var description: String { name }
}

extension TokenRefreshPlugin: CapabilityDeclaring {
    /// `PluginCapability.setsCredential`, `PluginCapability.setsAccessToken` and `PluginCapability.answersChallenges`.
    public var capabilities: Set<PluginCapability> { [.setsCredential, .setsAccessToken, .answersChallenges] }
}
