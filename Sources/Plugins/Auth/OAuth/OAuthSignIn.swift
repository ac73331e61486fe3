import Foundation
import PipelineCore

/// One sign-in with the grant of a session.
struct OAuthSignIn {
    let session: OAuthSession

    private var clock: PipelineClock { session.requests.clock }

    /// Returns the credential of the new session.
    func credential() async throws -> OAuthCredential {
        let metadata = try await session.metadata()
        switch session.grant.kind {
        case .clientCredentials:
            return try await session.obtain(clock)
        case .redirect(let redirect, let authenticate):
            let authorization = OAuthAuthorization(redirect, metadata)
            let callback = try await authenticate(authorization.url(session.requests.client.id, session.scope))
            return try await exchange(authorization.code(in: callback), authorization)
        case .loopback(let port, let path, let timeout, let open):
            return try await browse(port, path, timeout, metadata, open)
        case .device(let show):
            return try await authorizeDevice(metadata, show)
        }
    }

    // MARK: Authorization code

    private func browse(
        _ port: Int,
        _ path: String,
        _ timeout: Duration,
        _ metadata: OAuthMetadata,
        _ open: @escaping @Sendable (URL) async throws -> Void
    ) async throws -> OAuthCredential {
        let receiver = try LoopbackRedirectReceiver(port: port, path: path)
        defer { receiver.close() }
        let authorization = OAuthAuthorization(receiver.url, metadata)
        let url = try authorization.url(session.requests.client.id, session.scope)
        receiver.start(state: authorization.state)
        let late = PipelineError(.oauth(.expired), "the browser did not return in time")
        let callback = try await clock.run(until: clock.now.advanced(by: timeout), throwing: late) {
            try await withThrowingTaskGroup(of: URL?.self) { group in
                group.addTask {
                    try await open(url)
                    return nil
                }
                group.addTask { try await receiver.callback() }
                defer { group.cancelAll() }
                while let result = try await group.next() {
                    if let result { return result }
                }
                throw CancellationError()
            }
        }
        return try await exchange(authorization.code(in: callback), authorization)
    }

    private func exchange(_ code: String, _ authorization: OAuthAuthorization) async throws -> OAuthCredential {
        let key = try session.key(of: nil)
        let form = [
            ("grant_type", "authorization_code"), ("code", code), ("code_verifier", authorization.verifier),
            ("redirect_uri", authorization.redirect.absoluteString),
        ]
        return try await redeem(form, at: authorization.metadata.tokenEndpoint, key)
    }

    /// Sends a form that uses up a code.
    ///
    /// If the sign-in is cancelled meanwhile, the tokens are revoked when they arrive.
    private func redeem(_ form: [(String, String)], at endpoint: URL, _ key: DPoPKey?) async throws -> OAuthCredential {
        try Task.checkCancellation()
        let (session, clock) = (session, clock)
        return try await session.unattended {
            try await session.requests.credential(from: endpoint, form, key: key, clock)
        } late: {
            try? await session.revoke($0)
        }
    }

    // MARK: Device

    private func authorizeDevice(
        _ metadata: OAuthMetadata,
        _ show: @Sendable (OAuthDeviceCode) async throws -> Void
    ) async throws -> OAuthCredential {
        guard let endpoint = metadata.deviceAuthorizationEndpoint else {
            throw OAuthAuthorization.missing("device authorization")
        }
        let device = try await session.requests.deviceCode(from: endpoint, session.scope)
        let end = clock.now.advanced(by: .seconds(device.lifetime))
        try await show(device.shown)
        return try await poll(metadata.tokenEndpoint, device.secret, .seconds(device.interval), end)
    }

    private func poll(
        _ endpoint: URL,
        _ code: String,
        _ interval: Duration,
        _ end: PipelineClock.Instant
    ) async throws -> OAuthCredential {
        let key = try session.key(of: nil)
        let form = [("grant_type", "urn:ietf:params:oauth:grant-type:device_code"), ("device_code", code)]
        var interval = interval
        while true {
            guard clock.now.advanced(by: interval) <= end else {
                throw PipelineError(.oauth(.expired), "the device code expired before the user entered it")
            }
            try await clock.sleep(for: interval)
            do {
                return try await redeem(form, at: endpoint, key)
            } catch let error as PipelineError where error.serverError == "authorization_pending" {
                continue
            } catch let error as PipelineError where error.serverError == "slow_down" {
                interval += .seconds(5)
            } catch let error as PipelineError where error.code.isKind(of: .timeout) || error.code == .connectionLost {
                // RFC 8628 §3.5 asks for a longer interval after a timeout.
                interval = interval * 2
            }
        }
    }
}
