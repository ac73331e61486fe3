import Foundation
import Pipeline
import PipelineAuth
import PipelineTesting
import TestSupport
import Testing

@Suite("OAuthPlugin: device flow", .tags(.concurrent), .watched)
struct OAuthDeviceTests {
    /// Signs in, and returns the error and the seconds at which the token endpoint was asked.
    private func poll(
        _ errors: [String?],
        _ device: String =
            #"{"device_code": "d", "user_code": "u", "verification_uri": "https://a.test", "expires_in": 60}"#
    ) async -> (PipelineError?, [Double]) {
        let bench = OAuthBench { request, number in
            if request.path == "/device" { return .status(200, body: device) }
            guard request.path == "/token", let error = number <= errors.count ? errors[number - 1] : errors.last ?? nil
            else { return nil }
            return error == "lost" ? .failure(.connectionLost) : OAuthBench.failure(error)
        }
        let oauth = bench.plugin(grant: .device(scopes: ["read"]) { _ in })
        let error = await bench.clock.run { await oauthError { try await oauth.signIn() } }
        return (error, bench.received.filter { $0.path == "/token" }.map(\.second))
    }

    @Test("The code is shown, then the token is requested every 5 s until the user has entered it")
    func pending() async throws {
        let bench = OAuthBench { request, number in
            request.path == "/token" && number < 3 ? OAuthBench.failure("authorization_pending") : nil
        }
        let shown = LockedList<OAuthDeviceCode>()
        let oauth = bench.plugin(
            grant: .device(scopes: ["read"]) { code in
                #expect(bench.tokenForms.isEmpty)
                shown.append(code)
            }
        )
        try await bench.clock.run { try await oauth.signIn() }
        #expect(shown.all.first?.userCode == "CANARY-user")
        #expect(shown.all.first?.verificationURL.absoluteString == "https://auth.test/activate")
        #expect(shown.all.first?.completeVerificationURL == nil)
        #expect(shown.all.map { "\($0)" } == ["a device code"])
        let forms = bench.received.filter { $0.path != "/items" }
        #expect(forms.map(\.second) == [0, 5, 10, 15])
        #expect(forms.first?.form == ["scope": "read", "client_id": "cli"])
        #expect(
            forms.last?.form == [
                "grant_type": "urn:ietf:params:oauth:grant-type:device_code", "device_code": "CANARY-device",
                "client_id": "cli",
            ]
        )
        _ = try await bench.provider(oauth).request(.list)
        #expect(bench.authorizations == ["Bearer CANARY-access-3"])
    }

    @Test("slow_down adds 5 s to the interval, and a lost connection doubles it")
    func intervals() async throws {
        let (error, seconds) = await poll(["slow_down", "authorization_pending", "slow_down", nil])
        #expect(error == nil)
        #expect(seconds == [5, 15, 25, 40])
        let (lost, doubled) = await poll(["lost", "authorization_pending", nil])
        #expect(lost == nil)
        #expect(doubled == [5, 15, 25])
    }

    @Test("The server sets the interval")
    func interval() async throws {
        let device =
            #"{"device_code": "d", "user_code": "u", "verification_uri": "https://a.test", "expires_in": 60, "interval": 2}"#
        #expect(await poll(["authorization_pending", nil], device).1 == [2, 4])
    }

    @Test("A code that is not entered expires, and no request is sent after that")
    func expiry() async throws {
        let device = #"{"device_code": "d", "user_code": "u", "verification_uri": "https://a.test", "expires_in": 12}"#
        let (error, seconds) = await poll(["authorization_pending"], device)
        #expect(error?.code == .oauth(.expired))
        #expect(seconds == [5, 10])
    }

    @Test(
        "Other errors end the sign-in",
        arguments: [
            ("expired_token", "oauth.expired"), ("access_denied", "oauth.denied"), ("invalid_grant", "oauth.server"),
        ]
    )
    func errors(error: String, code: String) async throws {
        let (failure, seconds) = await poll([error])
        #expect(failure?.code.rawValue == code)
        #expect(seconds == [5])
    }

    @Test("Without a device authorization endpoint, the sign-in fails")
    func missing() async throws {
        let bench = OAuthBench()
        let server = OAuthServer(tokenEndpoint: OAuthBench.url("https://auth.test/token"))
        let error = await oauthError { try await bench.plugin(server, grant: .device { _ in }).signIn() }
        #expect(error?.code == .oauth(.endpoint))
    }
}
