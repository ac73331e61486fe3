import Logging
public import Pipeline

extension LoggingPlugin {
    /// Writes a leak or a fault of the stack as a warning, unless the plugin's level is `off`.
    public func report(_ finding: PipelineDescription.Finding) -> Bool {
        guard level != .off else { return false }
        let line = "\(finding.severity) \(finding)"
        switch output {
        case .standard(let logger), .logger(let logger): logger.warning("\(line)")
        case .handler(let handler): handler(min(.info, level), line)
        }
        return true
    }
}
