/// A plugin, which takes part in the stages of ``Stage`` that it conforms to.
///
/// A plugin is a value that many calls may use at the same time. The pipeline never holds a lock while it runs plugin
/// code, except for the closures of ``PipelineContext/update(_:_:)`` and
/// ``Stage/SharedOutcome/decision(of:orMake:)``.
public protocol PluginType: Sendable {
    /// The name that errors and `explain()` show; defaults to the type's name.
    var name: String { get }
}

extension PluginType {
    /// The default name, which is that of the plugin's type.
    public var name: String { "\(Self.self)" }
}
