import Foundation
import HTTPTypes
import PipelineCore

extension PipelineRequest {
    /// The host to which rules of trust, identities and proxies apply.
    var ruleHost: String { ProxyVariables.host(of: head.authority ?? "") }

    /// The host and port if the host is a loopback address, whatever the scheme is.
    var loopbackAuthority: String? { isToLoopback ? head.authority : nil }

    /// Whether a header field is secret, or the name of a query item sounds secret.
    var carriesCredential: Bool {
        if headers.contains(where: { isSecret($0.name) }) { return true }
        guard let query else { return false }
        return query.split(separator: "&").contains { item in
            let name = String(item.prefix { $0 != "=" })
            return Redactor.standard.isSecret(name: name.removingPercentEncoding ?? name, in: .query)
        }
    }
}
