import Foundation
import HTTPTypes
import Pipeline

extension PipelineRequest {
    /// The host to which rules apply: without a port, a user name and percent-encoding, which a network library would
    /// decode.
    var ruleHost: String {
        let authority = head.authority ?? ""
        let host = ProxyVariables.host(of: authority.split(separator: "@").last.map(String.init) ?? "")
        return host.removingPercentEncoding ?? host
    }
}
