import Foundation
import Pipeline
import PipelineAuth
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("CredentialsPlugin", .tags(.concurrent), .watched)
struct CredentialsPluginTests {
    private static let mufasa = PasswordCredential(username: "Mufasa", password: "Circle of Life")
    private static let basic = "Basic TXVmYXNhOkNpcmNsZSBvZiBMaWZl"

    /// A closure that always has the credential and counts how often it runs.
    private final class Keychain: Sendable {
        private let list = Mutex<[String]>([])

        /// The challenges that the closure received, in order: scheme and realm.
        var asked: [String] { list.withLock { $0 } }

        func plugin(
            spaceCount: Int = 64,
            has: @escaping @Sendable (AuthenticationChallenge) -> Bool = { _ in true }
        ) -> CredentialsPlugin {
            CredentialsPlugin(spaceCount: spaceCount) { challenge in
                self.list.withLock { $0.append("\(challenge.scheme) \(challenge.realm ?? "")") }
                return has(challenge) ? mufasa : nil
            }
        }
    }

    private let keychain = Keychain()

    private func provider(_ transport: ScriptedTransport, _ plugins: any PluginType...) -> Provider<Ask> {
        Provider(transport: transport, plugins: plugins, configuration: .init(random: .seeded(1)))
    }

    private func challenge(_ values: String...) -> ScriptedTransport.Step {
        var fields = HTTPFields()
        for value in values { fields.append(HTTPField(name: .wwwAuthenticate, value: value)) }
        return .status(401, headers: fields)
    }

    private func authorizations(_ transport: ScriptedTransport) -> [String?] {
        transport.sent.map { $0.headers[.authorization] }
    }

    /// The scheme and nonce of each request.
    private func nonces(_ transport: ScriptedTransport) -> [String] {
        authorizations(transport).map { value in
            guard let value else { return "none" }
            let answer = AuthenticationChallenge.challenges(in: [.wwwAuthenticate: value]).first
            return "\(answer?.scheme ?? "?") \(answer?["nonce"] ?? "")"
        }
    }

    @Test("The plugin passes the conformance suite")
    func conformance() async {
        #expect(await PluginConformance { CredentialsPlugin { _ in Self.mufasa } }.run() == [])
    }

    // MARK: Effects

    @Test(
        "M164 A06 The plugin answers a Digest challenge with each algorithm, and sends no credential before it",
        arguments: [nil, "MD5", "MD5-sess", "SHA-256", "SHA-256-sess"]
    )
    func digest(algorithm: String?) async throws {
        let server = DigestServer(.init(algorithm: algorithm))
        let transport = ScriptedTransport(server)
        let response = try await provider(transport, keychain.plugin()).request(
            Ask(url: "https://a.test/dir?q=%20", path: "", method: .put)
        )
        #expect(response.statusCode == 200)
        #expect(nonces(transport) == ["none", "Digest n1"])
        #expect(response.exchanges.map(\.statusCode) == [401, 200])
        #expect(keychain.asked == ["Digest r"])
        #expect(server.seen.repeated.isEmpty)
    }

    @Test("M164 The plugin answers a Basic challenge")
    func basicAnswered() async throws {
        let transport = ScriptedTransport([challenge("Basic realm=r"), .status(200)])
        #expect(try await provider(transport, keychain.plugin()).request(Ask()).statusCode == 200)
        #expect(authorizations(transport) == [nil, Self.basic])
    }

    @Test("The closures receive the target, its account and the challenge")
    func closure() async throws {
        let plugin = CredentialsPlugin(
            account: { ($0 as? Ask)?.path ?? "" },
            credential: { account, challenge in .init(username: account, password: challenge["x"] ?? "") }
        )
        let transport = ScriptedTransport([challenge("Basic realm=r, x=y"), .status(200)])
        let provider = Provider<MultiTarget>(transport: transport, plugins: [plugin])
        _ = try await provider.request(Ask())
        #expect(authorizations(transport).last == "Basic " + Data("/b:y".utf8).base64EncodedString())
    }

    @Test("The account closure runs once per call, and each of two plugins has its own account")
    func accountOnce() async throws {
        let asked = Mutex<[String]>([])
        func plugin(_ account: String, answers scheme: String) -> CredentialsPlugin {
            CredentialsPlugin(
                account: { _ in
                    asked.withLock { $0.append(account) }
                    return account
                },
                credential: { account, challenge in
                    challenge.isScheme(scheme) ? .init(username: account, password: "p") : nil
                }
            )
        }
        let again = PluginStack.intercept { request, _, next in
            _ = try await next(request)
            return try await next(request)
        }
        let transport = ScriptedTransport([challenge("Basic realm=r"), .status(503), .status(503)])
        let plugins: [any PluginType] = [again, plugin("digest", answers: "Digest"), plugin("basic", answers: "Basic")]
        let provider = Provider<Ask>(transport: transport, plugins: plugins)
        #expect(try await provider.request(Ask()).statusCode == 503)
        #expect(asked.withLock { $0 } == ["digest", "basic"])
        let value = "Basic " + Data("basic:p".utf8).base64EncodedString()
        #expect(authorizations(transport) == [nil, value, value])
    }

    @Test("Two concurrent passes of a call use the account that was known first")
    func accountOfPassesAtOnce() async throws {
        let order = Mutex<[String]>([])
        let (bothAsk, bothAskGate) = AsyncStream<Void>.makeStream()
        let (isUsed, isUsedGate) = AsyncStream<Void>.makeStream()
        let plugin = CredentialsPlugin(
            account: { _ in
                let name = order.withLock { order in
                    order.append("asked")
                    return "\(order.count)"
                }
                if name == "2" { bothAskGate.finish() }
                for await _ in name == "1" ? bothAsk : isUsed {}
                return name
            },
            credential: { account, _ in
                order.withLock { $0.append(account) }
                isUsedGate.finish()
                return .init(username: account, password: "p")
            }
        )
        let twice = PluginStack.intercept { request, _, next in
            async let first = next(request)
            async let second = next(request)
            return try await [first, second][0]
        }
        let transport = ScriptedTransport { _, _ in challenge("Basic realm=r") }
        _ = try? await provider(transport, twice, plugin).request(Ask())
        let used = order.withLock { $0.drop { $0 == "asked" } }
        #expect(used.count >= 2 && used.allSatisfy { $0 == "1" }, "\(used)")
    }

    @Test("Rule 20: calls with the same two accounts in swapped order share no response")
    func swapped() async throws {
        func plugin(_ offset: Int) -> CredentialsPlugin {
            CredentialsPlugin(
                account: { ["x", "y"][((($0 as? Ask)?.options[Turn.self] ?? 0) + offset) % 2] },
                credential: { account, _ in .init(username: account, password: "p") }
            )
        }
        let transport = ScriptedTransport { _, _ in
            .answer { request, context in
                try await context.clock.sleep(for: .seconds(1))
                return PipelineResponse(request: request, statusCode: 200)
            }
        }
        let clock = ManualClock()
        let sharing = DeduplicationPlugin()
        let provider = Provider<Ask>(
            transport: transport,
            plugins: [plugin(0), plugin(1), sharing],
            configuration: .init(unhandledOptions: .ignore, clock: clock)
        )
        let calls = [0, 0, 1].map { turn in
            Task {
                var options = RequestOptions()
                options[Turn.self] = turn
                return try await provider.request(Ask(options: options)).statusCode
            }
        }
        await eventually { sharing.callerCount == 3 }
        try await clock.waitForSleepers(2)
        clock.advance(by: .seconds(1))
        for call in calls { #expect(try await call.value == 200) }
        #expect(transport.sent.count == 2)
    }

    private enum Turn: RequestOptions.Key {
        static let defaultValue = 0
    }

    @Test("Rule 21: a background call uses the account of its parent", arguments: [true, false])
    func background(isOutside: Bool) async throws {
        let asked = Atomic(0)
        let plugin = CredentialsPlugin(
            account: { _ in "account \(asked.add(1, ordering: .relaxed).newValue)" },
            credential: { account, _ in .init(username: account, password: "p") }
        )
        let refreshing = PluginStack.intercept { request, _, next in
            if isOutside { next.startBackgroundCall(request) { _ in } }
            return isOutside ? PipelineResponse(request: request, statusCode: 203) : try await next(request)
        }
        let refreshingHop = PluginStack.exchange { request, context, send in
            guard !isOutside, context.parentID == nil else { return try await send(request) }
            send.startBackgroundCall(request) { _ in }
            return PipelineResponse(request: request, statusCode: 203)
        }
        let transport = ScriptedTransport([challenge("Basic realm=r"), .status(200)])
        let provider = provider(transport, refreshingHop, plugin, refreshing)
        _ = try await provider.request(Ask())
        #expect(await provider.drain(within: .seconds(60)))
        let value = "Basic " + Data("account 1:p".utf8).base64EncodedString()
        #expect(authorizations(transport) == [nil, value])
    }

    @Test("Rule 20: equal calls share an authenticated request only if they have one account", arguments: [1, 2])
    func shared(accountCount: Int) async throws {
        let number = Atomic(0)
        let plugin = CredentialsPlugin(
            account: { _ in "\(number.add(1, ordering: .relaxed).oldValue % accountCount)" },
            credential: { account, _ in .init(username: account, password: "p") }
        )
        let transport = ScriptedTransport { [self] request, _ in
            guard let field = request.headers[.authorization] else { return challenge("Basic realm=r") }
            return .delayed(.seconds(1), .status(200, body: field))
        }
        let sharing = DeduplicationPlugin()
        let clock = ManualClock()
        let provider = Provider<Ask>(
            transport: transport,
            plugins: [plugin, sharing],
            configuration: .init(clock: clock)
        )
        let calls = (0..<10).map { _ in Task { try await provider.request(Ask()).mapString() } }
        await eventually { sharing.callerCount == 10 }
        try await clock.waitForSleepers(accountCount)
        clock.advance(by: .seconds(1))
        var bodies: [String: Int] = [:]
        for call in calls { bodies[try await call.value, default: 0] += 1 }
        #expect(bodies.values.sorted() == Array(repeating: 10 / accountCount, count: accountCount))
        // The second account may arrive when the challenge is already known.
        #expect(authorizations(transport).compactMap(\.self).count == accountCount)
    }

    @Test(
        "A06 Of several challenges, in one field or in several, the strongest is answered",
        arguments: [
            (["Basic realm=r, Digest realm=r, nonce=md5, Digest realm=r, nonce=sha, algorithm=SHA-256"], "Digest sha"),
            (["Digest realm=r, nonce=sha, algorithm=SHA-256", "Digest realm=r, nonce=md5"], "Digest sha"),
            (["Bearer", "Basic realm=r", "Digest realm=r, nonce=md5, algorithm=MD5-sess, qop=auth"], "Digest md5"),
            (["Digest realm=r, nonce=first, Digest realm=r, nonce=second"], "Digest first"),
            (["Digest realm=r, nonce=a, algorithm=SHA-512-256, Basic realm=r"], "Basic "),
            (["Digest realm=r, nonce=a, qop=auth-int, Basic realm=r"], "Basic "),
            (["Digest realm=\"r, nonce=a", "Basic realm=r"], "Basic "),
        ]
    )
    func strongest(fields: [String], answered: String) async throws {
        var all = HTTPFields()
        for field in fields { all.append(HTTPField(name: .wwwAuthenticate, value: field)) }
        let transport = ScriptedTransport([.status(401, headers: all), .status(200)])
        _ = try await provider(transport, keychain.plugin()).request(Ask())
        #expect(nonces(transport) == ["none", answered])
        #expect(keychain.asked.count == 1)
    }

    @Test(
        "A 401 without a supported challenge is returned, and the closure does not run",
        arguments: [
            "Bearer", "Negotiate", "Digest realm=r, nonce=a, algorithm=SHA-512-256",
            "Digest realm=r, nonce=a, qop=auth-int",
            "Digest realm=r", "Digest realm=\"r, nonce=a", "Basic realm=a realm=b", "",
        ]
    )
    func unanswerable(value: String) async throws {
        let transport = ScriptedTransport([challenge(value)])
        #expect(try await provider(transport, keychain.plugin()).request(Ask()).statusCode == 401)
        #expect(keychain.asked.isEmpty)
    }

    @Test("If a realm has no credential, its other challenges are skipped, but not those of another realm")
    func realms() async throws {
        let value = "Digest realm=a, nonce=1, algorithm=SHA-256, Digest realm=a, nonce=2, Basic realm=a, Basic realm=b"
        let transport = ScriptedTransport([challenge(value), .status(200), challenge(value)])
        let some = keychain.plugin { $0.realm == "b" }
        #expect(try await provider(transport, some).request(Ask()).statusCode == 200)
        #expect(keychain.asked == ["Digest a", "Basic b"])
        #expect(authorizations(transport) == [nil, Self.basic])
        #expect(try await provider(transport, keychain.plugin { _ in false }).request(Ask()).statusCode == 401)
        #expect(transport.sent.count == 3)
    }

    @Test("A second 401 is returned without another attempt", arguments: ["Digest", "Basic"])
    func wrongPassword(scheme: String) async throws {
        let server = DigestServer(.init(password: "another"))
        let transport =
            scheme == "Digest" ? ScriptedTransport(server) : ScriptedTransport(always: challenge("Basic realm=r"))
        let response = try await provider(transport, keychain.plugin()).request(Ask())
        #expect(response.statusCode == 401)
        #expect(transport.sent.count == 2)
        #expect(keychain.asked.count == 1)
    }

    @Test("A06 A stale nonce is replaced with the new one, without running the closure again")
    func stale() async throws {
        let server = DigestServer(.init(usesPerNonce: 2))
        let transport = ScriptedTransport(server)
        let provider = provider(transport, keychain.plugin())
        for number in 1...5 {
            #expect(try await provider.request(Ask()).statusCode == 200)
            #expect(keychain.asked.count == number)
        }
        #expect(
            nonces(transport) == [
                "none", "Digest n1", "Digest n1", "Digest n1", "Digest n2", "Digest n2", "Digest n2", "Digest n3",
            ]
        )
    }

    @Test("If every nonce is stale, the plugin retries with a new nonce only once")
    func alwaysStale() async throws {
        let server = DigestServer(.init(hasFreshNonces: true, isAlwaysStale: true))
        let transport = ScriptedTransport(server)
        let provider = provider(transport, keychain.plugin())
        #expect(try await provider.request(Ask()).statusCode == 401)
        #expect(transport.sent.count == 3)
        #expect(keychain.asked.count == 1)
        #expect(try await provider.request(Ask()).statusCode == 401)
        #expect(transport.sent.count == 6)
        #expect(keychain.asked.count == 3)
    }

    @Test("If a known nonce is refused without stale, the closure runs once for the new challenge")
    func refusedAhead() async throws {
        let transport = ScriptedTransport([
            challenge("Digest realm=r, nonce=a"), .status(200), challenge("Digest realm=r, nonce=b"), .status(200),
            challenge("Digest realm=r, nonce=c"), challenge("Digest realm=r, nonce=d"),
        ])
        let provider = provider(transport, keychain.plugin())
        for status in [200, 200, 401] { #expect(try await provider.request(Ask()).statusCode == status) }
        #expect(nonces(transport) == ["none", "Digest a", "Digest a", "Digest b", "Digest b", "Digest c"])
        #expect(keychain.asked.count == 5)
    }

    @Test("A06 100 concurrent calls count the uses of each nonce from 1, each exactly once", arguments: [false, true])
    func parallel(hasFreshNonces: Bool) async throws {
        let server = DigestServer(.init(algorithm: "MD5-sess", hasFreshNonces: hasFreshNonces))
        let transport = ScriptedTransport(server)
        let provider = provider(transport, keychain.plugin())
        let statuses = await withTaskGroup { group in
            for number in 0..<100 {
                group.addTask { try? await provider.request(Ask(path: "/\(number)")).statusCode }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses == Array(repeating: 200, count: 100))
        let seen = server.seen
        #expect(seen.repeated.isEmpty)
        #expect(seen.acceptedCount == 100)
        if !hasFreshNonces { #expect(seen.nonces == ["n1": Set(1...100)]) }
        for used in seen.nonces.values where !used.isEmpty { #expect(used == Set(1...UInt32(used.count))) }
    }

    @Test("Later requests to the space carry Authorization from the start, and the closure runs before them")
    func ahead() async throws {
        let server = DigestServer()
        let transport = ScriptedTransport(server)
        let provider = provider(transport, keychain.plugin())
        for path in ["/a", "/b/c", "/"] { #expect(try await provider.request(Ask(path: path)).statusCode == 200) }
        #expect(transport.sent.count == 4)
        #expect(server.seen.nonces == ["n1": [1, 2, 3]])
        #expect(keychain.asked.count == 3)
    }

    @Test("The domain limits a Digest space, the path a Basic space")
    func bounded() async throws {
        let transport = ScriptedTransport { request, _ in
            if request.headers.contains(.authorization) { return .status(200) }
            let isBasic = request.path.hasPrefix("/basic")
            let value = isBasic ? "Basic realm=b" : #"Digest realm=d, nonce=n, domain="/digest""#
            return .status(401, headers: [.wwwAuthenticate: value])
        }
        let provider = provider(transport, keychain.plugin())
        for (path, count) in [("/basic/a", 2), ("/basic/b", 1), ("/x", 2), ("/digest/y", 1), ("/x", 2), ("/basics", 2)]
        {
            let before = transport.sent.count
            #expect(try await provider.request(Ask(path: path)).statusCode == 200)
            #expect(transport.sent.count - before == count, "\(path)")
        }
    }

    @Test("Another origin is a separate space, whatever the domain says")
    func otherSpace() async throws {
        let server = DigestServer(.init(more: #", domain="/ https://b.test/""#))
        let transport = ScriptedTransport(server)
        let provider = provider(transport, keychain.plugin())
        _ = try await provider.request(Ask())
        _ = try await provider.request(Ask(url: "https://b.test"))
        #expect(nonces(transport) == ["none", "Digest n1", "none", "Digest n1"])
    }

    @Test("If the closure no longer returns a credential, none is sent ahead, and none is kept")
    func noneKept() async throws {
        let isThere = Mutex(true)
        let plugin = CredentialsPlugin { _ in
            isThere.withLock { $0 } ? .init(username: "canary", password: "canary") : nil
        }
        let transport = ScriptedTransport([challenge("Basic realm=r"), .status(200), .status(200)])
        let provider = Provider<Ask>(transport: transport, plugins: [plugin])
        _ = try await provider.request(Ask())
        isThere.withLock { $0 = false }
        _ = try await provider.request(Ask())
        #expect(authorizations(transport).last == .some(nil))
        var text = ""
        dump(plugin, to: &text, maxDepth: 20)
        #expect(!text.contains("canary"))
    }

    @Test(
        "The server's nextnonce is used and counted from 1, in the same session",
        arguments: ["SHA-256", "SHA-256-sess", "MD5-sess"]
    )
    func nextNonce(algorithm: String) async throws {
        let server = DigestServer(.init(algorithm: algorithm, usesPerNonce: 1, namesNextNonce: true))
        let transport = ScriptedTransport(server)
        let provider = provider(transport, keychain.plugin())
        for _ in 1...4 { #expect(try await provider.request(Ask()).statusCode == 200) }
        #expect(nonces(transport) == ["none", "Digest n1", "Digest n2", "Digest n3", "Digest n4"])
        #expect(server.seen.repeated.isEmpty)
    }

    @Test(
        "A malformed nextnonce is ignored",
        arguments: ["nextnonce=", "nextnonce=\"\"", "nextnonce=\"n", "Digest nextnonce=x", "nextnonce=x, nextnonce=y"]
    )
    func brokenNextNonce(value: String) async throws {
        let info = try #require(HTTPField.Name("Authentication-Info"))
        let transport = ScriptedTransport([
            challenge("Digest realm=r, nonce=n"), .status(200, headers: [info: value]), .status(200),
        ])
        let provider = provider(transport, keychain.plugin())
        for _ in 1...2 { _ = try await provider.request(Ask()) }
        #expect(nonces(transport) == ["none", "Digest n", "Digest n"])
    }

    @Test("A nextnonce of at most 4,096 bytes is used", arguments: [(4_096, true), (4_097, false)])
    func longNextNonce(length: Int, isUsed: Bool) async throws {
        let (info, next) = (try #require(HTTPField.Name("Authentication-Info")), String(repeating: "m", count: length))
        let transport = ScriptedTransport([
            challenge("Digest realm=r, nonce=n"), .status(200, headers: [info: "nextnonce=\"\(next)\""]), .status(200),
        ])
        let provider = provider(transport, keychain.plugin())
        for _ in 1...2 { _ = try await provider.request(Ask()) }
        #expect(nonces(transport) == ["none", "Digest n", isUsed ? "Digest \(next)" : "Digest n"])
    }

    @Test("A 407 is passed on")
    func proxy() async throws {
        let fields: HTTPFields = [.proxyAuthenticate: "Basic realm=p", .wwwAuthenticate: "Basic realm=r"]
        let transport = ScriptedTransport([.status(407, headers: fields)])
        #expect(try await provider(transport, keychain.plugin()).request(Ask()).statusCode == 407)
        #expect(keychain.asked.isEmpty)
    }

    @Test("If there are too many spaces, the least recently used one is dropped")
    func bound() async throws {
        let server = DigestServer()
        let transport = ScriptedTransport(server)
        let provider = provider(transport, keychain.plugin(spaceCount: 2))
        for (host, count) in [("a", 2), ("b", 2), ("a", 1), ("c", 2), ("a", 1), ("b", 2)] {
            let before = transport.sent.count
            #expect(try await provider.request(Ask(url: "https://\(host).test")).statusCode == 200)
            #expect(transport.sent.count - before == count, "\(host)")
        }
    }

    @Test("A space count of zero traps with a message that gives its value")
    func noSpace() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = CredentialsPlugin(spaceCount: 0) { _ in nil }
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("spaceCount is 0, not 1 or more"))
    }
}
