public import Pipeline

extension TokenRefreshPlugin: CustomStringConvertible, CustomReflectable {
    /// The plugin's name.
    public var description: String { name }

    /// Only what the description shows, so that `dump` leaks nothing either.
    public var customMirror: Mirror {
        Mirror(self, children: ["plugin": description])
    }
}

extension TokenRefreshPlugin: OrderChecking {
    /// Finds another plugin that sets a token.
    public func findings(in surroundings: PluginSurroundings) -> [PipelineDescription.Finding] {
        var findings: [PipelineDescription.Finding] = []
        if surroundings.inside.contains(where: { $0 is AccessTokenPlugin || $0 is any TokenRefreshing }) {
            findings.append(
                .init(
                    "inside TokenRefreshPlugin another plugin replaces its token, so that no refusal is noticed and "
                        + "nothing is refreshed; leave one of the two"
                )
            )
        }
        if surroundings.outside.contains(where: { $0 is AccessTokenPlugin }) {
            findings.append(
                .init(
                    "TokenRefreshPlugin replaces the token of AccessTokenPlugin, which stands outside it and is asked "
                        + "in vain; leave one of the two"
                )
            )
        }
        return findings
    }
}

/// What the plugin is for every type of credential.
protocol TokenRefreshing {}

extension TokenRefreshPlugin: TokenRefreshing {}
