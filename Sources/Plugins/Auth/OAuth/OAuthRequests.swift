import Foundation
import HTTPTypes
import PipelineCore
import Synchronization

/// Sends requests to the endpoints of the authorization server and reads its responses.
struct OAuthRequests: Sendable {
    /// A request to an endpoint; it never carries the token of a session.
    struct Call: TargetType {
        let baseURL: URL
        var form: [(name: String, value: String)]?
        var headers: [String: String]? = ["Accept": "application/json"]

        var path: String { "" }
        var method: HTTPMethod { form == nil ? .get : .post }
        var task: RequestTask { form.map { .requestData(Data(FormText.text(of: $0).utf8)) } ?? .requestPlain }
        var options: RequestOptions { RequestOptions { $0.isTokenRequest = true } }
    }

    private static let maximumByteCount = 256 << 10

    let client: OAuthClient
    let clock: PipelineClock
    let proofs = DPoPProofs()
    private let provider: Provider<Call>

    init(
        client: OAuthClient,
        transport: any Transport,
        plugins: [any PluginType],
        configuration: ProviderConfiguration
    ) {
        self.client = client
        clock = configuration.clock
        var configuration = configuration
        // A redirect could send the secrets of a request to another server.
        configuration.redirects = .never
        configuration.limits.bufferedBodyByteCount = min(
            configuration.limits.bufferedBodyByteCount,
            Self.maximumByteCount
        )
        provider = Provider(transport: transport, plugins: plugins, configuration: configuration)
    }

    /// Throws unless the connection to an endpoint cannot be read in transit.
    static func check(_ url: URL) throws {
        let request = try? PipelineRequest(url: url.absoluteString)
        guard let request, CleartextPolicy.loopbackOnly.allows(request) else {
            throw PipelineError(
                .oauth(.endpoint),
                "an endpoint of the authorization server is neither https nor http to a loopback address"
            )
        }
    }

    /// Reads the metadata of an authorization server.
    ///
    /// Source: RFC 8414 §3, https://www.rfc-editor.org/rfc/rfc8414.html#section-3
    func metadata(of issuer: URL) async throws -> OAuthMetadata {
        try Self.check(issuer)
        for place in OAuthMetadata.places(of: issuer) {
            let response = try await provider.request(Call(baseURL: place))
            if (400...499).contains(response.statusCode) { continue }
            guard response.statusCode == 200 else {
                let status = response.statusCode
                throw PipelineError(.oauth(.response), "the authorization server's metadata has status \(status)")
            }
            // Servers that know no such place may respond with a page or a list.
            guard hasObject(response) else { continue }
            let metadata = try decode(OAuthMetadata.self, response, "metadata")
            guard metadata.issuer == issuer.absoluteString else {
                throw PipelineError(.oauth(.issuer), "the authorization server's metadata names another issuer")
            }
            return metadata
        }
        throw PipelineError(.oauth(.response), "the authorization server has no metadata at its well-known URLs")
    }

    /// Posts a form with the authentication of the client.
    ///
    /// - Parameters:
    ///   - url: the endpoint.
    ///   - form: the form without the identifier and the secret of the client.
    ///   - key: the key for a proof of possession, which the token endpoint asks for with DPoP.
    /// - Returns: a successful response.
    /// - Throws: the error of the server, without a secret of the request.
    func post(_ url: URL, _ form: [(String, String)], key: DPoPKey? = nil) async throws -> PipelineResponse {
        try Self.check(url)
        var call = Call(baseURL: url, form: form.map { (name: $0.0, value: $0.1) })
        call.headers?["Content-Type"] = "application/x-www-form-urlencoded"
        authenticate(&call)
        var (response, isNewNonce) = try await send(call, key)
        if isNewNonce, failure(of: response)?.error == "use_dpop_nonce" {
            (response, _) = try await send(call, key)
        }
        // Some servers report errors with status 200.
        guard (200...299).contains(response.statusCode), failure(of: response) == nil else {
            throw error(of: response, to: call)
        }
        return response
    }

    /// Sends a call, with a proof if there is a key; also returns whether the server gave another nonce for proofs.
    private func send(_ call: Call, _ key: DPoPKey?) async throws -> (PipelineResponse, isNewNonce: Bool) {
        guard let key else { return (try await provider.request(call), false) }
        var call = call
        let request = try PipelineRequest(.post, url: call.baseURL.absoluteString)
        let proof = try proofs.proof(for: request, key: key, token: nil, date: clock.date)
        call.headers?["DPoP"] = proof.text
        let response = try await provider.request(call)
        return (response, proofs.note(response, after: proof))
    }

    private func authenticate(_ call: inout Call) {
        guard let secret = client.secret, client.authentication == .basic else {
            call.form?.append((name: "client_id", value: client.id))
            if let secret = client.secret { call.form?.append((name: "client_secret", value: secret)) }
            return
        }
        let pair = FormText.encoded(client.id) + ":" + FormText.encoded(secret)
        call.headers?["Authorization"] = "Basic " + Data(pair.utf8).base64EncodedString()
    }

    // MARK: Responses

    private static var decoder: JSONDecoder {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return decoder
    }

    /// Decodes a response of at most 256 KiB; the error quotes nothing of it.
    func decode<Value: Decodable>(_ type: Value.Type, _ response: PipelineResponse, _ what: String) throws -> Value {
        guard let value = try? Self.decoder.decode(type, from: response.data) else {
            throw PipelineError(.oauth(.response), "the authorization server sent \(what) that cannot be read")
        }
        return value
    }

    /// Returns whether the body is a JSON object.
    private func hasObject(_ response: PipelineResponse) -> Bool {
        struct AnyObject: Decodable {
            private enum Member: CodingKey {}

            init(from decoder: any Decoder) throws { _ = try decoder.container(keyedBy: Member.self) }
        }
        return (try? Self.decoder.decode(AnyObject.self, from: response.data)) != nil
    }

    /// Decodes the tokens of a session.
    func credential(
        _ response: PipelineResponse,
        replacing old: OAuthCredential?,
        key: DPoPKey?,
        date: Date
    ) throws -> OAuthCredential {
        let tokens = try decode(OAuthTokenResponse.self, response, "a token response")
        guard tokens.type == (key == nil ? "bearer" : "dpop") else {
            let wanted = key == nil ? "Bearer" : "DPoP"
            throw PipelineError(.oauth(.response), "the authorization server sent no access token of type \(wanted)")
        }
        let lifetime = tokens.lifetime.flatMap { (0...1e9).contains($0) ? $0 : nil }
        return OAuthCredential(
            accessToken: tokens.accessToken,
            refreshToken: tokens.refreshToken ?? old?.refreshToken,
            isBoundToKey: key != nil,
            expiry: lifetime.map { date.addingTimeInterval($0) },
            issuedAt: date,
            key: key?.data,
            session: old == nil ? UUID().uuidString : old?.session
        )
    }

    private func failure(of response: PipelineResponse) -> OAuthErrorResponse? {
        try? Self.decoder.decode(OAuthErrorResponse.self, from: response.data)
    }

    private func error(of response: PipelineResponse, to call: Call) -> PipelineError {
        guard let failure = failure(of: response) else {
            let reason = "the authorization server responded with status \(response.statusCode)"
            return PipelineError(.oauth(.response), reason)
        }
        let secrets = (call.form ?? []).filter { !Self.plainNames.contains($0.name) }.map(\.value)
        return OAuthServerError(
            error: failure.error,
            description: failure.description,
            hiding: secrets + (client.secret.map { [$0, FormText.encoded($0)] } ?? [])
        ).pipelineError
    }

    private static let plainNames: Set<String> = [
        "grant_type", "scope", "client_id", "redirect_uri", "token_type_hint",
    ]
}
