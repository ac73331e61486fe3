import Foundation
import PipelineCore

/// Reads the metadata of an authorization server.
///
/// Source: RFC 8414 §3, https://www.rfc-editor.org/rfc/rfc8414.html#section-3
struct OAuthDiscovery {
    let requests: OAuthRequests

    func metadata(of issuer: URL) async throws -> OAuthMetadata {
        try OAuthRequests.check(issuer)
        for place in OAuthMetadata.places(of: issuer) {
            let response = try await requests.get(place)
            if (400...499).contains(response.statusCode) { continue }
            guard response.statusCode == 200 else {
                let status = response.statusCode
                throw PipelineError(.oauth(.response), "the authorization server's metadata has status \(status)")
            }
            // Servers that know no such place may respond with a page or a list.
            guard requests.hasObject(response) else { continue }
            let metadata = try requests.decode(OAuthMetadata.self, response, "metadata")
            guard metadata.issuer == issuer.absoluteString else {
                throw PipelineError(.oauth(.issuer), "the authorization server's metadata names another issuer")
            }
            return metadata
        }
        throw PipelineError(.oauth(.response), "the authorization server has no metadata at its well-known URLs")
    }
}
