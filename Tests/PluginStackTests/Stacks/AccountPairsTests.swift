import Foundation
import Logging
import Pipeline
import PipelineCaching
import PipelineTesting
import Synchronization
import TestSupport
import Testing

/// Every plugin that shares, stores, joins or repeats, with every way to set a credential at every place.
@Suite("Two accounts with equal calls", .watched)
struct AccountPairsTests {
    /// A server that responds with the account that it reads from a request, and challenges one without any.
    private final class Server: Sendable {
        private let fails = Mutex(false)
        let sharer: AccountSharer
        let challenge: String?

        init(_ sharer: AccountSharer, challenge: String? = nil) { (self.sharer, self.challenge) = (sharer, challenge) }

        func fail() { fails.withLock { $0 = true } }

        var transport: ScriptedTransport {
            ScriptedTransport { [self] request, _ in .delayed(.milliseconds(50), step(request)) }
        }

        private func step(_ request: PipelineRequest) -> ScriptedTransport.Step {
            if fails.withLock({ $0 }) { return .status(503) }
            let account = Self.account(request.headers)
            if account == nil, let challenge { return .status(401, headers: [.wwwAuthenticate: challenge]) }
            return .status(200, headers: sharer.fields, body: account ?? "none")
        }

        private static func account(_ fields: HTTPFields) -> String? {
            let names = ["Authorization", "X-User", "X-Api-Key", "X-Signature", "Cookie"]
            guard let value = names.lazy.compactMap({ HTTPField.Name($0).flatMap { fields[$0] } }).first else {
                return nil
            }
            if value.hasPrefix("Digest") {
                return value.split(separator: "username=\"").last.map { String($0.prefix { $0 != "\"" }) }
            }
            guard value.hasPrefix("Basic"), let coded = value.split(separator: " ").last else {
                return value.split { $0 == " " || $0 == "=" }.last.map(String.init)
            }
            let pair = String(decoding: Data(base64Encoded: String(coded)) ?? Data(), as: UTF8.self)
            return String(pair.prefix { $0 != ":" })
        }
    }

    /// The text of the response; `failed` for that of a server that fails, `ended` for a session that has ended.
    private static func text(_ call: () async throws -> PipelineResponse) async throws -> String {
        do {
            let response = try await call()
            return response.statusCode == 503 ? "failed" : try response.mapString()
        } catch let error as PipelineError where error.code == .sessionEnded {
            return "ended"
        }
    }

    @Test(
        "A2, G02, G07: neither gets the response of the other, whatever sets the credential where",
        arguments: AccountSharer.all.indices
    )
    func pairs(index: Int) async throws {
        let sharer = AccountSharer.all[index]
        for setter in AccountSetter.all {
            for place in sharer.places {
                let plugins = sharer.plugins(with: try await setter.make(), at: place)
                let server = Server(sharer, challenge: setter.challenge)
                let script = server.transport
                let clock = ManualClock()
                let provider = Provider<AccountCall>(
                    transport: setter.wrap(script),
                    plugins: plugins,
                    configuration: ProviderConfiguration(findings: .report { _ in }, clock: clock)
                )
                let ask = { @Sendable (account: String) async throws -> String in
                    try await AccountCall.$current.withValue(account) {
                        var call = AccountCall(account: account)
                        setter.change(&call)
                        return try await Self.text { [call] in try await provider.request(call) }
                    }
                }
                try await clock.run {
                    async let alice = ask("alice")
                    async let bob = ask("bob")
                    async let again = ask("alice")
                    let answers = try await [alice, bob, again]
                    #expect(answers == ["alice", "bob", "alice"], "\(setter.name) \(place), at once")
                    try await clock.sleep(for: sharer.pause)
                    if sharer.failsLater { server.fail() }
                    for account in sharer.later {
                        let answer = try await ask(account)
                        let isRight = answer == account || sharer.failsLater && answer == "failed"
                        #expect(isRight, "\(setter.name) \(place), later: \(account) got \(answer)")
                        // A request in the background ends.
                        try await clock.sleep(for: .seconds(1))
                    }
                }
                guard sharer.shares, setter.name == "AccessTokenPlugin", place.index == 0 else { continue }
                #expect(script.sent.count < 3 + sharer.later.count, "\(sharer.name) shares nothing")
            }
        }
    }

    @Test(
        "A2, G05: after a change of user, none gets the response of the other, whatever the user signs in with",
        arguments: AccountSharer.all.indices
    )
    func users(index: Int) async throws {
        let sharer = AccountSharer.all[index]
        for login in AccountLogin.all {
            for place in sharer.places {
                let clock = ManualClock()
                let session = try await login.make(clock)
                let server = Server(sharer, challenge: login.challenge)
                let provider = Provider<AccountCall>(
                    transport: session.wrap(server.transport),
                    plugins: sharer.plugins(with: session.plugins, at: place),
                    configuration: ProviderConfiguration(findings: .report { _ in }, clock: clock)
                )
                let ask = { @Sendable () async throws -> String in
                    try await Self.text { try await provider.request(AccountCall(account: session.user.name)) }
                }
                try await clock.run {
                    try await session.signIn("alice")
                    async let first = ask()
                    try await clock.sleep(for: .milliseconds(20))
                    try await session.signIn("bob")
                    let second = try await ask()
                    #expect(second == "bob", "\(login.name) \(place), after a change of user")
                    let answer = try await first
                    #expect(["alice", "ended"].contains(answer), "\(login.name) \(place), during the change")
                    try await clock.sleep(for: sharer.pause)
                    if sharer.failsLater { server.fail() }
                    for account in sharer.later {
                        try await session.signIn(account)
                        let answer = try await ask()
                        let isRight = answer == account || sharer.failsLater && answer == "failed"
                        #expect(isRight, "\(login.name) \(place), later: \(account) got \(answer)")
                    }
                    // Requests in the background end.
                    try await clock.sleep(for: .seconds(1))
                }
            }
        }
    }

    @Test(
        "A2: two tokens share a stored response only if the origin says it is public, or the app that they are of one",
        arguments: [true, false]
    )
    func declared(byOrigin: Bool) async throws {
        let transport = ScriptedTransport { request, _ in
            let fields: HTTPFields = [.cacheControl: byOrigin ? "public, max-age=60" : "max-age=60"]
            return .status(200, headers: fields, body: request.headers[.authorization] ?? "")
        }
        let cache = byOrigin ? CachePlugin(rules: .shared) : CachePlugin(account: { _ in "service" })
        let token = AccessTokenPlugin { AccountCall.account($0) }
        let provider = Provider<AccountCall>(transport: transport, plugins: [token, cache])
        for account in ["alice", "bob"] {
            #expect(try await provider.request(AccountCall(account: account)).mapString() == "Bearer alice")
        }
    }

    private final class Found: Sendable {
        private let all = Mutex<[String]>([])
        var ids: [String] { all.withLock { $0 } }
        func add(_ finding: PipelineDescription.Finding) { all.withLock { $0.append(finding.id) } }
    }

    @Test("A2: a credential inside a plugin that shares is a leak that is reported when the provider is made")
    func reported() async throws {
        for setter in AccountSetter.all {
            let found = Found()
            let plugins: [any PluginType] = [DeduplicationPlugin()] + (try await setter.make())
            let configuration = ProviderConfiguration(findings: .report { found.add($0) })
            _ = Provider<AccountCall>(transport: ScriptedTransport([]), plugins: plugins, configuration: configuration)
            #expect(found.ids.contains { $0.hasPrefix("sharing-outside") } == setter.isReported, "\(setter.name)")
        }
    }
}
