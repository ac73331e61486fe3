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
            guard object(response) != nil else { continue }
            let decoder = JSONDecoder()
            decoder.keyDecodingStrategy = .convertFromSnakeCase
            guard let metadata = try? decoder.decode(OAuthMetadata.self, from: response.data) else {
                throw unreadable("metadata")
            }
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

    /// Returns the JSON object of a response, which has at most 256 KiB.
    private func object(_ response: PipelineResponse) -> OAuthObject? {
        try? JSONDecoder().decode(OAuthObject.self, from: response.data)
    }

    /// Returns the error for a response that cannot be understood, which quotes nothing of it.
    private func unreadable(_ what: String) -> PipelineError {
        PipelineError(.oauth(.response), "the authorization server sent \(what) that cannot be read")
    }

    /// Posts a form for tokens.
    ///
    /// - Parameters:
    ///   - url: the token endpoint.
    ///   - form: the form.
    ///   - key: the key that the tokens are bound to; `nil` for bearer tokens.
    ///   - old: the credential of the same session that the tokens replace.
    ///   - clock: the clock by which the tokens expire.
    /// - Returns: the credential.
    /// - Throws: an error of the server, or for a response that cannot be used.
    func credential(
        from url: URL,
        _ form: [(String, String)],
        key: DPoPKey?,
        replacing old: OAuthCredential? = nil,
        _ clock: PipelineClock
    ) async throws -> OAuthCredential {
        let response = try await post(url, form, key: key)
        let date = clock.date
        guard let tokens = object(response), let accessToken = tokens.text("access_token") else {
            throw unreadable("a token response")
        }
        let type = key == nil ? "Bearer" : "DPoP"
        guard (tokens.text("token_type") ?? "Bearer").lowercased() == type.lowercased() else {
            throw PipelineError(.oauth(.response), "the authorization server sent no access token of type \(type)")
        }
        let lifetime = tokens.seconds("expires_in").flatMap { (0...1e9).contains($0) ? $0 : nil }
        return OAuthCredential(
            accessToken: accessToken,
            refreshToken: tokens.text("refresh_token") ?? old?.refreshToken,
            isBoundToKey: key != nil,
            expiry: lifetime.map { date.addingTimeInterval($0) },
            issuedAt: date,
            key: key?.data,
            session: old == nil ? UUID().uuidString : old?.session
        )
    }

    /// Asks for a device code, whose lifetime is 0 to 86,400 s; also returns the interval of polls in seconds.
    ///
    /// Source: RFC 8628 §3.2, https://www.rfc-editor.org/rfc/rfc8628.html#section-3.2
    func deviceCode(
        from url: URL,
        _ form: [(String, String)]
    ) async throws -> (secret: String, shown: OAuthDeviceCode, interval: Double, lifetime: Double) {
        // Google's names end with url.
        guard let device = object(try await post(url, form)), let secret = device.text("device_code"),
            let userCode = device.text("user_code"), userCode.unicodeScalars.allSatisfy(\.isVisible),
            let page = device.page("verification_uri") ?? device.page("verification_url"),
            let lifetime = device.seconds("expires_in").map({ min(max($0, 0), 86_400) })
        else { throw unreadable("a device code") }
        let shown = OAuthDeviceCode(
            userCode: userCode,
            verificationURL: page,
            completeVerificationURL: device.page("verification_uri_complete")
                ?? device.page("verification_url_complete"),
            expiry: clock.date.addingTimeInterval(lifetime)
        )
        // Zero would ask the server without a pause.
        let interval = device.seconds("interval").map { $0 < 1 ? 5 : min($0, 3_600) } ?? 5
        return (secret, shown, interval, lifetime)
    }

    /// Returns the error in an object without an access token, whatever its status.
    ///
    /// Source: RFC 6749 §5.2, https://www.rfc-editor.org/rfc/rfc6749.html#section-5.2
    private func failure(of response: PipelineResponse) -> (error: String, description: String?)? {
        guard let object = object(response), let error = object.text("error"), object.text("access_token") == nil else {
            return nil
        }
        return (error, object.text("error_description"))
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

extension Unicode.Scalar {
    /// Whether the character can neither hide nor reorder others.
    fileprivate var isVisible: Bool {
        switch properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }
}
