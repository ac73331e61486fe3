import Foundation

/// What a provider does when a call sets an option whose plugin is not in the stack.
///
/// ```swift
/// let provider = Provider<GitHub>(transport: transport, plugins: plugins, configuration: .init(unhandledOptions: .fail))
/// try await provider.request(.zen, options: .init { $0.totalTimeout = .seconds(5) })
/// // invalidRequest.option: the option totalTimeout has no effect because no plugin of Provider<GitHub> handles it; add TimeoutPlugin, …
/// ```
///
/// An option is handled if a plugin of the stack declares it, see ``OptionHandling``; where in the stack the plugin is does not matter.
/// Options of the call and of its target count alike. A value that asks a plugin for nothing needs no plugin: `nil`, a value that
/// turns the plugin off, such as `retry = .never`, and a wish that holds without the plugin, such as `avoidLogError = true`.
///
/// **Effects**: a call without options of plugins is not checked. ``warn`` keeps the names of the options that it has reported.
///
/// **Errors**: ``fail`` ends the call with ``PipelineError/Code-swift.struct/invalidRequest(_:)`` and `.option` before the request is
/// encoded. The process and didFinish stages see the failure.
///
/// **Secrets**: messages hold names of options, plugins and the provider's type, never values.
public struct UnhandledOptionPolicy: Sendable {
    enum Action: Sendable {
        case ignore
        case warn(@Sendable (String) -> Void)
        case fail
    }

    let action: Action

    /// Sends the request without the option and writes a line to standard error, once per option and provider.
    public static let warn = warn { message in
        // The process may have no standard error.
        try? FileHandle.standardError.write(contentsOf: Data("warning: \(message)\n".utf8))
    }

    /// Fails the call; for tests.
    public static let fail = UnhandledOptionPolicy(action: .fail)

    /// Sends the request without the option; for a stack whose closures handle options.
    public static let ignore = UnhandledOptionPolicy(action: .ignore)

    /// Sends the request without the option and calls a closure, once per option and provider.
    ///
    /// - Parameter report: gets a sentence that names the option, the provider and the plugin. It runs within the call and must be quick.
    /// - Returns: the policy.
    public static func warn(_ report: @escaping @Sendable (_ message: String) -> Void) -> UnhandledOptionPolicy {
        UnhandledOptionPolicy(action: .warn(report))
    }
}
