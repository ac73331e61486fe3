import Foundation
import Pipeline
import PipelineAuth
import PipelineTesting
import Synchronization
import TestSupport
import Testing

/// A server that accepts some tokens, and a source of new ones: `t1`, `t2` and so on.
final class TokenBench: Sendable {
    struct Refused: Error {}

    /// What `onChange` saw.
    struct Change: Equatable {
        let token: String?
        let reason: TokenCredentialChange

        init(_ token: String?, _ reason: TokenCredentialChange) {
            self.token = token
            self.reason = reason
        }
    }

    private struct State {
        var expired: [String?] = []
        var running = 0
        var mostRunning = 0
        var isFailing = false
        var changes: [Change] = []
    }

    /// The clock of the providers.
    let clock = ManualClock()
    /// A gated refresh continues when this clock advances by a second.
    let gate = ManualClock()
    let transport: ScriptedTransport
    private let isGated: Bool
    private let state = Mutex(State())

    init(isGated: Bool = false, refusesAfter: Duration? = nil, accepts: @escaping @Sendable (String) -> Bool) {
        self.isGated = isGated
        transport = ScriptedTransport { request, _ in
            if accepts(request.headers[.authorization] ?? "") { return .status(200, body: "ok") }
            let refusal = ScriptedTransport.Step.status(401, body: "no")
            return refusesAfter.map { .delayed($0, refusal) } ?? refusal
        }
    }

    /// A server that refuses only one token.
    convenience init(isGated: Bool = false, refusesAfter: Duration? = nil, refuses token: String) {
        self.init(isGated: isGated, refusesAfter: refusesAfter) { $0 != "Bearer " + token }
    }

    /// The tokens that were refreshed, in order.
    var expired: [String?] { state.withLock { $0.expired } }
    /// The largest number of concurrent refreshes.
    var mostRunning: Int { state.withLock { $0.mostRunning } }
    /// What `onChange` saw.
    var changes: [Change] { state.withLock { $0.changes } }
    /// The Authorization fields that were sent.
    var sent: [String?] { transport.sent.map { $0.headers[.authorization] } }

    func note(_ session: Session?, _ reason: TokenCredentialChange) {
        state.withLock { $0.changes.append(Change(session?.accessToken, reason)) }
    }

    func fail(_ isFailing: Bool = true) { state.withLock { $0.isFailing = isFailing } }

    func refresh(_ old: Session?, lifetime: Duration? = nil) async throws -> Session {
        let number = state.withLock { state in
            state.expired.append(old?.accessToken)
            state.running += 1
            state.mostRunning = max(state.mostRunning, state.running)
            return state.expired.count
        }
        defer { state.withLock { $0.running -= 1 } }
        if isGated { try await gate.sleep(for: .seconds(1)) }
        if state.withLock({ $0.isFailing }) { throw Refused() }
        return Session(
            accessToken: "t\(number)",
            expiry: lifetime.map { clock.date.addingTimeInterval($0 / .seconds(1)) }
        )
    }

    /// A plugin with the given token, which expires after the given time.
    func plugin(
        _ token: String? = "old",
        expiresIn: Duration? = nil,
        issuedAt: Date? = nil,
        policy: TokenRefreshPolicy = TokenRefreshPolicy()
    ) -> TokenRefreshPlugin<Session> {
        TokenRefreshPlugin(
            credential: token.map { session($0, expiresIn: expiresIn, issuedAt: issuedAt) },
            policy: policy,
            onChange: { self.note($0, $1) },
            refresh: { old, _ in try await self.refresh(old) }
        )
    }

    func session(_ token: String, expiresIn: Duration? = nil, issuedAt: Date? = nil) -> Session {
        let expiry = expiresIn.map { clock.date.addingTimeInterval($0 / .seconds(1)) }
        return Session(accessToken: token, expiry: expiry, issuedAt: issuedAt)
    }

    func provider(_ plugins: any PluginType...) -> Provider<MultiTarget> {
        Provider(transport: transport, plugins: plugins, configuration: .init(clock: clock))
    }

    /// Lets the refresh that waits at the gate continue.
    func openGate() async throws {
        try await gate.waitForSleepers()
        gate.advance(by: .seconds(1))
    }

    /// Waits until `count` calls wait for the plugin.
    func waitForCallers(_ count: Int, of plugin: TokenRefreshPlugin<Session>) async {
        await Self.wait { plugin.waitingCount == count }
    }

    /// Waits until a condition holds that does not depend on the clock.
    static func wait(until condition: () -> Bool, sourceLocation: SourceLocation = #_sourceLocation) async {
        await eventually(sourceLocation: sourceLocation, condition)
    }
}
