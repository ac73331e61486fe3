import Logging
public import PipelineCore

extension LoggingPlugin {
    /// Writes a leak or a fault of the stack as a warning, unless the plugin's level is `off`.
    public func report(_ finding: PipelineDescription.Finding) -> Bool {
        write(warning: "\(finding.severity) \(finding)")
    }

    /// Writes a warning of another plugin, unless the plugin's level is `off`.
    public func report(warning: String) -> Bool { write(warning: warning) }

    private func write(warning line: String) -> Bool {
        guard level != .off else { return false }
        switch output {
        case .standard(let logger), .logger(let logger): logger.warning("\(line)")
        case .handler(let handler): handler(min(.info, level), line)
        }
        return true
    }
}
