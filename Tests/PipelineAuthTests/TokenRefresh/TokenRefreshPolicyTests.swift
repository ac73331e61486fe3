import Foundation
import Pipeline
import PipelineAuth
import PipelineTesting
import TestSupport
import Testing

@Suite("TokenRefreshPolicy", .tags(.concurrent), .watched)
struct TokenRefreshPolicyTests {
    @Test(
        "A credential that expires within the leeway is refreshed before sending",
        arguments: [
            (nil, 60, false), (61, 60, false), (60, 60, true), (59, 60, true), (0, 60, true), (-1_000_000, 60, true),
            (1, 0, false), (0, 0, true),
        ] as [(Int?, Int, Bool)]
    )
    func proactive(expiresIn: Int?, leeway: Int, isRefreshed: Bool) async throws {
        let bench = TokenBench { _ in true }
        let policy = TokenRefreshPolicy(leeway: .seconds(leeway))
        let plugin = bench.plugin(expiresIn: expiresIn.map { .seconds($0) }, issuedAt: .distantPast, policy: policy)
        _ = try await bench.provider(plugin).request(Ask.bearer)
        #expect(bench.sent == [isRefreshed ? "Bearer t1" : "Bearer old"])
        #expect(bench.expired == (isRefreshed ? ["old"] : []))
        #expect(plugin.credential?.accessToken == (isRefreshed ? "t1" : "old"))
    }

    @Test(
        "The leeway of a refreshed credential is at most half its lifetime; one that arrives expired is used",
        arguments: [
            (10, 4, false), (10, 5, true), (300, 239, false), (300, 240, true), (0, 1_000, false), (-5, 0, false),
        ]
    )
    func leewayOfNew(lifetime: Int, passed: Int, isRefreshed: Bool) async throws {
        let bench = TokenBench { _ in true }
        let plugin = TokenRefreshPlugin(credential: bench.session("old", expiresIn: .zero)) { old, _ in
            try await bench.refresh(old, lifetime: .seconds(lifetime))
        }
        let provider = bench.provider(plugin)
        _ = try await provider.request(Ask.bearer)
        bench.clock.advance(by: .seconds(passed))
        _ = try await provider.request(Ask.bearer)
        #expect(bench.expired == (isRefreshed ? ["old", "t1"] : ["old"]))
    }

    /// How a plugin gets a credential that does not come from a refresh.
    enum Arrival: CaseIterable {
        case restored, logIn, logInBeforeFirstCall
    }

    @Test(
        "A09 A token with a lifetime shorter than the leeway is used for half of it, from its issue date if known",
        arguments: Arrival.allCases,
        [
            (30, nil, 0, false), (30, nil, 14, false), (30, nil, 15, true), (300, nil, 239, false),
            (300, nil, 240, true),
            (25, 15, 4, false), (25, 15, 5, true), (10, 90, 0, true), (-5, nil, 0, true), (10, -100, 9, false),
        ] as [(left: Int, sinceIssue: Int?, passed: Int, isRefreshed: Bool)]
    )
    func shortLife(arrival: Arrival, _ life: (left: Int, sinceIssue: Int?, passed: Int, isRefreshed: Bool)) async throws
    {
        let bench = TokenBench { _ in true }
        var session = bench.session("new", expiresIn: .seconds(life.left))
        session.issuedAt = life.sinceIssue.map { bench.clock.date.addingTimeInterval(-Double($0)) }
        let plugin = TokenRefreshPlugin(
            credential: arrival == .restored ? session : nil,
            policy: TokenRefreshPolicy(withoutCredential: .send)
        ) { old, _ in
            try await bench.refresh(old, lifetime: .seconds(1_000))
        }
        let provider = bench.provider(plugin)
        if arrival == .logIn {
            _ = try await provider.request(Ask.bearer)
            await plugin.setCredential(session)
            // The lifetime of a credential counts from when it is set, not from the next call.
            bench.clock.advance(by: .seconds(life.passed))
        } else {
            if arrival == .logInBeforeFirstCall { await plugin.setCredential(session) }
            _ = try await provider.request(Ask.bearer)
            #expect(bench.expired.isEmpty == (life.passed > 0 || !life.isRefreshed))
            bench.clock.advance(by: .seconds(life.passed))
        }
        _ = try await provider.request(Ask.bearer)
        #expect(bench.expired == (life.isRefreshed ? ["new"] : []))
    }

    @Test("A policy decides which responses refuse the token")
    func isUnauthorized() async throws {
        let transport = ScriptedTransport([.status(419), .status(401)])
        let plugin = TokenRefreshPlugin(
            credential: Session(accessToken: "old"),
            policy: TokenRefreshPolicy { $0.statusCode == 419 }
        ) { _, _ in Session(accessToken: "new") }
        let provider = Provider<Ask>(
            transport: transport,
            plugins: [plugin],
            configuration: .init(clock: ManualClock())
        )
        #expect(try await provider.request(.bearer).statusCode == 401)
        #expect(transport.sent.map { $0.headers[.authorization] } == ["Bearer old", "Bearer new"])
    }
}
