/// A conflict between the settings of two plugins in a stack, for the findings of ``Provider/explain()``.
public struct SettingConflict: Sendable, Hashable {
    let id: String
    let problem: String
    let consequence: String
    let remedy: String

    /// Describes a conflict.
    ///
    /// - Parameters:
    ///   - id: the stable identifier, in lowercase words with hyphens.
    ///   - problem: what is wrong, as a clause with the values of both settings.
    ///   - consequence: the consequence for the caller, as a clause.
    ///   - remedy: what to do, as an imperative clause.
    public init(_ id: String, problem: String, consequence: String, remedy: String) {
        self.id = id
        self.problem = problem
        self.consequence = consequence
        self.remedy = remedy
    }
}

extension PipelineDescription {
    /// Returns the conflicts of each plugin with every other one.
    static func conflicts(of plugins: [any PluginType]) -> [Finding] {
        plugins.indices.flatMap { index -> [Finding] in
            guard let plugin = plugins[index] as? any CapabilityDeclaring else { return [] }
            return plugins.indices.compactMap { other in
                guard other != index, let conflict = plugin.conflict(with: plugins[other]) else { return nil }
                let place = "\(plugin.name) (\(index + 1)), \(plugins[other].name) (\(other + 1))"
                return Finding(
                    id: conflict.id,
                    plugins: [plugin.name, plugins[other].name],
                    positions: [index + 1, other + 1],
                    problem: conflict.problem,
                    consequence: conflict.consequence,
                    remedy: conflict.remedy,
                    severity: .fault,
                    locatedProblem: "\(place): \(conflict.problem)"
                )
            }
        }
    }
}
