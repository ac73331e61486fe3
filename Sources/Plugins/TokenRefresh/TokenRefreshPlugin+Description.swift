public import Pipeline

extension TokenRefreshPlugin: CustomStringConvertible, CustomReflectable {
    /// The plugin's name.
    public var description: String { name }

    /// Only what the description shows, so that `dump` leaks nothing either.
    public var customMirror: Mirror {
        Mirror(self, children: ["plugin": description])
    }
}

extension TokenRefreshPlugin: CapabilityDeclaring {
    /// `PluginCapability.setsCredential`, `PluginCapability.setsAccessToken` and `PluginCapability.answersChallenges`.
    public var capabilities: Set<PluginCapability> { [.setsCredential, .setsAccessToken, .answersChallenges] }
}
