import HTTPTypes
import PipelineCore

extension PipelineRequest {
    /// The host to which rules of trust, identities and proxies apply.
    var ruleHost: String { ProxyVariables.host(of: head.authority ?? "") }
}
