import Pipeline
import PipelineResilience

/// The stacks whose defaults are pinned.
enum DefaultStack: CaseIterable {
    case bare, standard, resilient

    var plugins: [any PluginType] {
        switch self {
        case .bare: []
        case .standard: [.standard]
        case .resilient: [.standard(.resilient)]
        }
    }
}
