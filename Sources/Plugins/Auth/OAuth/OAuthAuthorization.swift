import Foundation
import PipelineCore
import PipelineHashes

/// One authorization request, and the check of its response.
///
/// Source: RFC 6749 §4.1, RFC 7636 §4, RFC 9207 §2
struct OAuthAuthorization: SafelyDescribed {
    let state: String
    let verifier: String
    let redirect: URL
    let metadata: OAuthMetadata

    var description: String { "an authorization request" }

    init(_ redirect: URL, _ metadata: OAuthMetadata, _ secrets: (Int) -> [UInt8] = OAuthSecrets.bytes) {
        state = Base64URL.text(of: secrets(16))
        verifier = Base64URL.text(of: secrets(32))
        self.redirect = redirect
        self.metadata = metadata
    }

    /// Returns the URL for the browser, which contains the hash of the verifier only.
    func url(_ clientID: String, _ scope: [(String, String)]) throws -> URL {
        guard let endpoint = metadata.authorizationEndpoint else { throw Self.missing("authorization") }
        try OAuthRequests.check(endpoint)
        let challenge = Base64URL.text(of: SHA256.hash(Array(verifier.utf8)))
        let items = [
            ("response_type", "code"), ("client_id", clientID), ("redirect_uri", redirect.absoluteString),
            ("state", state), ("code_challenge", challenge), ("code_challenge_method", "S256"),
        ]
        let query = FormText.text(of: (items + scope).map { (name: $0.0, value: $0.1) })
        var parts = URLComponents(url: endpoint, resolvingAgainstBaseURL: false)
        let given = parts?.percentEncodedQuery
        parts?.percentEncodedQuery = [given, query].compactMap(\.self).joined(separator: "&")
        guard let url = parts?.url else { throw Self.missing("authorization") }
        return url
    }

    /// Returns the code of the response.
    func code(in callback: URL) throws -> String {
        let parts = URLComponents(url: callback, resolvingAgainstBaseURL: false)
        let expected = URLComponents(url: redirect, resolvingAgainstBaseURL: false)
        let items = Dictionary(grouping: FormText.items(of: parts?.percentEncodedQuery ?? ""), by: \.name)
        // A parameter must not occur twice (RFC 6749 §3.1).
        func value(_ name: String) -> String? {
            guard let found = items[name], found.count == 1 else { return nil }
            return found[0].value
        }
        guard parts?.scheme?.lowercased() == expected?.scheme?.lowercased(), parts?.host == expected?.host,
            parts?.port == expected?.port, parts?.percentEncodedPath == expected?.percentEncodedPath,
            let received = value("state"), OAuthSecrets.areEqual(received, state)
        else {
            throw PipelineError(
                .oauth(.state),
                "the authorization response does not belong to this sign-in; its state or its URL differs"
            )
        }
        try checkIssuer(items["iss"]?.map(\.value) ?? [])
        if let error = value("error") {
            throw OAuthServerError(error: error, description: value("error_description"), hiding: [state, verifier])
                .pipelineError
        }
        guard let code = value("code"), !code.isEmpty else {
            throw PipelineError(.oauth(.response), "the authorization response has neither a code nor an error")
        }
        return code
    }

    private func checkIssuer(_ issuers: [String]) throws {
        let sendsIssuer = metadata.authorizationResponseIssParameterSupported == true
        if issuers.isEmpty, !sendsIssuer { return }
        guard issuers.count == 1,
            metadata.issuer == nil && !sendsIssuer || issuers[0] == metadata.issuer
        else { throw PipelineError(.oauth(.issuer), "the authorization response names another issuer, or none") }
    }

    static func missing(_ name: String) -> PipelineError {
        PipelineError(.oauth(.endpoint), "the authorization server has no \(name) endpoint")
    }
}
