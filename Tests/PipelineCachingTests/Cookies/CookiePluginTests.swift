import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@testable import PipelineCaching

@Suite("CookiePlugin", .tags(.concurrent), .watched)
struct CookiePluginTests {
    private struct Broken: Error {}

    /// A store that cannot be read or cannot be written.
    private struct BrokenStore: CookieStore {
        let isReadable: Bool

        func jar(account: String) async throws -> CookieJar {
            guard isReadable else { throw Broken() }
            return CookieJar()
        }

        func update(account: String, _ change: @Sendable (inout CookieJar) -> Void) async throws { throw Broken() }
        func remove(account: String?) async throws {}
    }

    private let store: any CookieStore = MemoryCookieStore()
    private let clock = ManualClock()
    private static let list = PublicSuffixList("test\nco.test")

    private func provider(_ transport: ScriptedTransport, _ plugins: [any PluginType] = []) -> Provider<Ask> {
        Provider(
            transport: transport,
            plugins: plugins + [CookiePlugin(store: store, rules: CookieRules(publicSuffixes: Self.list))],
            configuration: .init(clock: clock)
        )
    }

    private static func set(_ fields: String..., status: Int = 200, location: String? = nil) -> ScriptedTransport.Step {
        var headers = HTTPFields(fields.map { HTTPField(name: .setCookie, value: $0) })
        headers[.location] = location
        return .status(status, headers: headers)
    }

    private func sent(_ transport: ScriptedTransport) -> [String?] {
        transport.sent.map { $0.headers[.cookie] }
    }

    @Test("The plugin passes the conformance suite, with one account and with several", arguments: [false, true])
    func conformance(hasAccounts: Bool) async {
        let suite = PluginConformance { hasAccounts ? CookiePlugin(account: { _ in "a" }) : CookiePlugin() }
        #expect(await suite.run() == [])
    }

    // MARK: Effects

    @Test("Cookies of a response are sent with later calls until the server removes them")
    func session() async throws {
        let transport = ScriptedTransport([
            Self.set("id=1; Path=/", "lang=de"), .status(200), Self.set("id=; Max-Age=0; Path=/"), .status(200),
        ])
        let provider = provider(transport)
        for _ in 1...4 { _ = try await provider.request(Ask()) }
        #expect(sent(transport) == [nil, "id=1; lang=de", "id=1; lang=de", "lang=de"])
    }

    @Test("RFC 6265bis §5.7: a cookie expires on the provider's clock")
    func expiry() async throws {
        let transport = ScriptedTransport([Self.set("a=1; Max-Age=60"), .status(200), .status(200)])
        let provider = provider(transport)
        _ = try await provider.request(Ask())
        clock.advance(by: .seconds(59))
        _ = try await provider.request(Ask())
        clock.advance(by: .seconds(1))
        _ = try await provider.request(Ask())
        #expect(sent(transport) == [nil, "a=1", nil])
    }

    @Test("A cookie that a redirect sets is sent with the next hop; another host gets only its own")
    func redirects() async throws {
        let transport = ScriptedTransport([
            Self.set("a=1; Path=/", status: 302, location: "/next"),
            Self.set("b=2; Path=/", status: 302, location: "https://other.test/"),
            Self.set("c=3; Path=/", status: 302, location: "https://a.test/back"),
            .status(200), .status(200),
        ])
        let provider = provider(transport)
        _ = try await provider.request(Ask())
        _ = try await provider.request(Ask(url: "https://other.test"))
        #expect(sent(transport) == [nil, "a=1", nil, "a=1; b=2", "c=3"])
    }

    @Test("Cookies of a response whose status the target does not accept are stored")
    func unacceptable() async throws {
        let transport = ScriptedTransport([Self.set("a=1", status: 500), .status(200)])
        let provider = provider(transport)
        await #expect(throws: PipelineError.self) { try await provider.request(Ask(validationType: .successCodes)) }
        _ = try await provider.request(Ask())
        #expect(sent(transport) == [nil, "a=1"])
    }

    @Test("Cookies of the target come first and replace those of the jar with the same name")
    func merged() async throws {
        let transport = ScriptedTransport([Self.set("a=1; Path=/", "b=2; Path=/"), .status(200), .status(200)])
        let provider = provider(transport)
        _ = try await provider.request(Ask())
        _ = try await provider.request(Ask(headers: ["Cookie": "x=9; a=8"]))
        _ = try await provider.request(Ask(headers: ["Cookie": "a=8; b=7"]))
        #expect(sent(transport) == [nil, "x=9; a=8; b=2", "a=8; b=7"])
    }

    @Test("DESIGN rule 11: a Cookie field of the target is dropped when a redirect leaves the origin; the jar's is not")
    func targetsFieldOnRedirect() async throws {
        let transport = ScriptedTransport([
            Self.set("shared=1; Domain=shop.test; Path=/"),
            .status(302, headers: [.location: "https://b.shop.test/"]), .status(200),
        ])
        let provider = provider(transport)
        _ = try await provider.request(Ask(url: "https://a.shop.test"))
        _ = try await provider.request(Ask(url: "https://a.shop.test", headers: ["Cookie": "own=1"]))
        #expect(sent(transport) == [nil, "own=1; shared=1", "shared=1"])
    }

    @Test("Each attempt is sent with the cookies that the last one got")
    func attempts() async throws {
        let transport = ScriptedTransport([Self.set("try=1", status: 503), .status(200)])
        let again = PluginStack.intercept { request, _, next in
            _ = try await next(request)
            return try await next(request)
        }
        _ = try await provider(transport, [again]).request(Ask())
        #expect(sent(transport) == [nil, "try=1"])
    }

    @Test(
        "RFC 6265bis §5.8.3: a redirect to another site carries lax cookies of safe methods only, and strict ones never",
        arguments: [("GET", "lax=1; open=1; unset=1"), ("POST", "open=1")]
    )
    func sameSite(method: String, carried: String) async throws {
        let cookies = ["strict=1; SameSite=Strict", "lax=1; SameSite=Lax", "open=1; SameSite=None; Secure", "unset=1"]
        let transport = ScriptedTransport { request, index in
            switch index {
            case 0: .status(200, headers: HTTPFields(cookies.map { HTTPField(name: .setCookie, value: $0) }))
            case 1: .status(307, headers: [.location: "https://shop.test/b"])
            default: .status(200)
            }
        }
        let provider = provider(transport)
        _ = try await provider.request(Ask(url: "https://shop.test"))
        _ = try await provider.request(Ask(url: "https://other.test", method: .init(method) ?? .get))
        #expect(sent(transport).last == carried)
        _ = try await provider.request(Ask(url: "https://shop.test", method: .post))
        #expect(sent(transport).last == "strict=1; lax=1; open=1; unset=1")
    }

    @Test("Cookies of a response that another plugin made are not stored")
    func cached() async throws {
        let answering = PluginStack.exchange(name: "answering") { request, _, _ in
            let head = HTTPResponse(status: .ok, headerFields: [.setCookie: "a=1"])
            return PipelineResponse(request: request, head: head, body: .absent)
        }
        let plugins: [any PluginType] = [CookiePlugin(store: store), answering]
        _ = try await Provider<Ask>(transport: ScriptedTransport([]), plugins: plugins).request(Ask())
        #expect(try await store.jar(account: "").cookies.isEmpty)
    }

    @Test("100 concurrent calls lose no cookie")
    func concurrent() async throws {
        let transport = ScriptedTransport { request, _ in Self.set("c\(request.path.dropFirst(2))=1; Path=/") }
        let rules = CookieRules(publicSuffixes: nil)
        let provider = Provider<Ask>(transport: transport, plugins: [CookiePlugin(store: store, rules: rules)])
        await withTaskGroup { group in
            for number in 0..<100 {
                group.addTask { _ = try? await provider.request(Ask(path: "/b\(number)")) }
            }
        }
        #expect(Set(try await store.jar(account: "").cookies.map(\.name)).count == 100)
    }

    // MARK: Accounts

    @Test("Rule 20: two accounts share neither cookies nor a response")
    func accounts() async throws {
        let transport = ScriptedTransport { request, _ in
            guard let cookie = request.headers[.cookie] else {
                return Self.set("id=\(request.path.suffix(1)); Path=/")
            }
            return .delayed(.seconds(1), .status(200, body: cookie))
        }
        let sharing = DeduplicationPlugin()
        let cookies = CookiePlugin(store: store, account: { ($0 as? Ask)?.options[Tenant.self] ?? "" })
        let provider = Provider<Ask>(
            transport: transport,
            plugins: [cookies, sharing],
            configuration: .init(unhandledOptions: .ignore, clock: clock)
        )
        func ask(_ tenant: String, _ path: String) -> Ask {
            var options = RequestOptions()
            options[Tenant.self] = tenant
            return Ask(path: path, options: options)
        }
        for tenant in ["x", "y"] { _ = try await provider.request(ask(tenant, "/login-\(tenant)")) }
        let calls = ["x", "y", "x"].map { tenant in
            Task { try await provider.request(ask(tenant, "/me")).mapString() }
        }
        await eventually { sharing.callerCount == 3 }
        try await clock.waitForSleepers(2)
        clock.advance(by: .seconds(1))
        var bodies: [String] = []
        for call in calls { bodies.append(try await call.value) }
        #expect(bodies == ["id=x", "id=y", "id=x"])
        #expect(transport.sent.count == 4)
    }

    private enum Tenant: RequestOptions.Key {
        static let defaultValue = ""
    }

    // MARK: Errors

    @Test("If the store cannot be read, the call fails before anything is sent")
    func unreadable() async {
        let transport = ScriptedTransport([.status(200)])
        let plugin = CookiePlugin(store: BrokenStore(isReadable: false))
        let provider = Provider<Ask>(transport: transport, plugins: [plugin])
        let error = await #expect(throws: PipelineError.self) { try await provider.request(Ask()) }
        #expect(error?.code == .unreadableCookies)
        #expect(error?.plugin == "CookiePlugin")
        #expect(error?.underlyingError is Broken)
        #expect(transport.sent.isEmpty)
    }

    @Test("If the store cannot be written, the call succeeds and the closure gets the error")
    func notWritable() async throws {
        let failures = Mutex(0)
        let plugin = CookiePlugin(
            store: BrokenStore(isReadable: true),
            onWriteFailure: { error in if error is Broken { failures.withLock { $0 += 1 } } }
        )
        let transport = ScriptedTransport([Self.set("a=1"), .status(200)])
        let provider = Provider<Ask>(transport: transport, plugins: [plugin])
        for _ in 1...2 { #expect(try await provider.request(Ask()).statusCode == 200) }
        #expect(failures.withLock { $0 } == 1)
    }

    @Test("The first failure to store cookies is logged without onWriteFailure, and then at most one an hour")
    func writeFailureIsLogged() async throws {
        let clock = ManualClock()
        let plugin = CookiePlugin(store: BrokenStore(isReadable: true))
        let transport = ScriptedTransport(always: Self.set("a=1"))
        let provider = Provider<Ask>(transport: transport, plugins: [plugin], configuration: .init(clock: clock))
        func logs() -> Bool {
            let warnings = WarningLog()
            plugin.warnings.log(Broken(), at: PipelineClock(clock).now, to: warnings.log)
            return !warnings.all.isEmpty
        }
        _ = try await provider.request(Ask())
        #expect(!logs())
        clock.advance(by: .seconds(3_599))
        #expect(!logs())
        clock.advance(by: .seconds(1))
        _ = try await provider.request(Ask())
        clock.advance(by: .seconds(3_599))
        #expect(!logs())
        clock.advance(by: .seconds(1))
        #expect(logs())
        #expect(plugin.warnings.text(of: Broken()).hasSuffix("so new cookies may be lost: Broken"))
    }

    // MARK: Secrets

    @Test("F01 No description shows the value of a cookie, and the field is marked as secret")
    func secrets() async throws {
        let transport = ScriptedTransport([Self.set("id=canary-value"), .failure(.connectionLost)])
        let plugin = CookiePlugin(store: store)
        let provider = Provider<Ask>(transport: transport, plugins: [plugin])
        _ = try await provider.request(Ask())
        let error = await #expect(throws: PipelineError.self) { try await provider.request(Ask(path: "/canary")) }
        #expect(sent(transport).last == "id=canary-value")
        #expect(transport.sent.last?.secretFields.contains(.cookie) == true)
        var text = "\(String(describing: error)) \(transport.sent.map { $0.curlCommand() })"
        dump(try await store.jar(account: ""), to: &text)
        dump(error, to: &text)
        #expect(!text.contains("canary-value"))
    }

    // MARK: Position

    @Test("A plugin inside a cache, inside a signature, or twice in a stack is reported")
    func findings() {
        struct Other: CapabilityDeclaring, Stage.Exchange {
            let capabilities: Set<PluginCapability>

            func exchange(
                _ request: PipelineRequest,
                context: PipelineContext,
                send: Stage.Send
            ) async throws -> PipelineResponse {
                try await send(request)
            }
        }
        func ids(_ plugins: any PluginType...) -> [String] {
            Provider<Ask>(transport: ScriptedTransport([]), plugins: plugins).explain().findings.map(\.id)
        }
        let cookies = CookiePlugin()
        #expect(ids(Other(capabilities: [.caches]), cookies) == ["cookies-inside-cache"])
        #expect(ids(cookies, Other(capabilities: [.caches])) == [])
        #expect(ids(cookies, CookiePlugin()) == ["cookies-twice"])
        #expect(ids(cookies, Other(capabilities: [.signs, .identifiesCalls])) == [])
    }
}
