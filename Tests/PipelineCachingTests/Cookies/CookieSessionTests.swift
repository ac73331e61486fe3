import Pipeline
import PipelineCaching
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("CookiePlugin: the end of a session", .watched)
struct CookieSessionTests {
    private let clock = ManualClock()
    private let store = GatedStore()

    /// A store whose reads or changes wait until they are let through.
    private final class GatedStore: CookieStore {
        private struct Gate {
            var isClosed = false
            var waiting: [CheckedContinuation<Void, Never>] = []
        }

        private let wrapped = MemoryCookieStore()
        private let gate = Mutex(Gate())

        var waitingCount: Int { gate.withLock { $0.waiting.count } }

        func close() { gate.withLock { $0.isClosed = true } }

        func open() {
            let waiting = gate.withLock { gate in
                defer { gate = Gate() }
                return gate.waiting
            }
            for each in waiting { each.resume() }
        }

        private func pass() async {
            await withCheckedContinuation { continuation in
                let isClosed = gate.withLock { gate in
                    if gate.isClosed { gate.waiting.append(continuation) }
                    return gate.isClosed
                }
                if !isClosed { continuation.resume() }
            }
        }

        func jar(account: String) async throws -> CookieJar {
            let jar = await wrapped.jar(account: account)
            await pass()
            return jar
        }

        func update(account: String, _ change: @Sendable (inout CookieJar) -> Void) async throws {
            await pass()
            await wrapped.update(account: account, change)
        }

        func remove(account: String?) async throws { await wrapped.remove(account: account) }
    }

    private func provider(_ transport: ScriptedTransport, _ plugins: [any PluginType]) -> Provider<Ask> {
        Provider(transport: transport, plugins: plugins, configuration: .init(clock: clock))
    }

    /// Gives each call without a cookie the next user's cookie, and waits a second.
    private var transport: ScriptedTransport {
        let users = Mutex(0)
        return ScriptedTransport { request, _ in
            guard request.headers[.cookie] == nil else {
                return .delayed(.seconds(1), .status(200, body: request.headers[.cookie] ?? ""))
            }
            let user = users.withLock { users in
                users += 1
                return users
            }
            return .status(200, headers: [.setCookie: "user=\(user)"])
        }
    }

    private func cookies(_ transport: ScriptedTransport) -> [String?] { transport.sent.map { $0.headers[.cookie] } }

    /// Advances the clock by a second as soon as a call sleeps.
    private func pass() async {
        await eventually { clock.sleeperCount > 0 }
        clock.advance(by: .seconds(1))
    }

    @Test("G03: a call of the next user does not join one of the user before", arguments: [false, true])
    func joined(byProvider: Bool) async throws {
        let transport = transport
        let cookies = CookiePlugin(store: store)
        let provider = provider(transport, [cookies, DeduplicationPlugin()])
        _ = try await provider.request(Ask())
        async let first = provider.request(Ask()).mapString()
        try await transport.waitForRequests(2)
        if byProvider { try await provider.signOut() } else { try await cookies.signOut() }
        async let second: PipelineResponse = provider.request(Ask())
        try await transport.waitForRequests(3)
        _ = try await second
        async let third = provider.request(Ask()).mapString()
        try await transport.waitForRequests(4)
        await eventually { clock.sleeperCount == 2 }
        clock.advance(by: .seconds(1))
        #expect(try await first == "user=1")
        #expect(try await third == "user=2")
    }

    @Test(
        "G03: if the cookies are set inside, a call of the next user waits for the one before, but gets its own response"
    )
    func joinedOutside() async throws {
        let transport = transport
        let cookies = CookiePlugin(store: store)
        let plugin = DeduplicationPlugin()
        let provider = provider(transport, [plugin, cookies])
        _ = try await provider.request(Ask())
        async let first = provider.request(Ask()).mapString()
        try await transport.waitForRequests(2)
        try await cookies.signOut()
        // The next user signs in.
        _ = try await provider.request(Ask(), options: RequestOptions { $0.deduplication = .off })
        async let second = provider.request(Ask()).mapString()
        await eventually { plugin.callerCount == 2 || transport.sent.count == 4 }
        await pass()
        #expect(try await first == "user=1")
        await eventually { transport.sent.count == 4 }
        await pass()
        #expect(try await second == "user=2")
    }

    @Test("G03: calls of one session share an exchange")
    func shared() async throws {
        let transport = transport
        let plugin = DeduplicationPlugin()
        let provider = provider(transport, [CookiePlugin(store: store), plugin])
        _ = try await provider.request(Ask())
        async let first = provider.request(Ask()).mapString()
        async let second = provider.request(Ask()).mapString()
        await eventually { plugin.callerCount == 2 }
        await pass()
        #expect(try await [first, second] == ["user=1", "user=1"])
        #expect(transport.sent.count == 2)
    }

    @Test("G03: a PUT that waits for its next attempt while the user signs out is not sent as the next user")
    func repeated() async throws {
        let transport = ScriptedTransport([
            .status(200, headers: [.setCookie: "user=1"]), .status(503), .status(200, headers: [.setCookie: "user=2"]),
        ])
        let retry = RetryPlugin(backoff: .constant(.seconds(1)))
        let provider = provider(transport, [retry, CookiePlugin(store: store)])
        _ = try await provider.request(Ask())
        let put = Task { try await provider.request(Ask(method: .put)) }
        try await transport.waitForRequests(2)
        await eventually { clock.sleeperCount > 0 }
        try await provider.signOut()
        _ = try await provider.request(Ask())
        clock.advance(by: .seconds(1))
        let error = await #expect(throws: PipelineError.self) { _ = try await put.value }
        #expect(error?.code == .sessionEnded)
        #expect(cookies(transport) == [nil, "user=1", nil])
    }

    @Test("G03: a redirect that arrives after the user has signed out is not followed as the next user")
    func redirected() async throws {
        let transport = ScriptedTransport([
            .status(200, headers: [.setCookie: "user=1"]),
            .delayed(.seconds(1), .status(302, headers: [.location: "/c"])),
            .status(200, headers: [.setCookie: "user=2"]), .status(200),
        ])
        let provider = provider(transport, [CookiePlugin(store: store)])
        _ = try await provider.request(Ask())
        let call = Task { try await provider.request(Ask()) }
        try await transport.waitForRequests(2)
        try await provider.signOut()
        _ = try await provider.request(Ask())
        await pass()
        let error = await #expect(throws: PipelineError.self) { _ = try await call.value }
        #expect(error?.code == .sessionEnded)
        #expect(cookies(transport) == [nil, "user=1", nil])
    }

    @Test("G03: cookies that a slow store has read before the user signed out are not sent")
    func slowRead() async throws {
        let transport = transport
        let provider = provider(transport, [CookiePlugin(store: store)])
        _ = try await provider.request(Ask())
        store.close()
        let call = Task { try await provider.request(Ask()) }
        await eventually { store.waitingCount == 1 }
        try await provider.signOut()
        store.open()
        let error = await #expect(throws: PipelineError.self) { _ = try await call.value }
        #expect(error?.code == .sessionEnded)
        #expect(transport.sent.count == 1)
    }

    @Test("G03: a slow store does not bring back a cookie of a session that has ended")
    func slowChange() async throws {
        let transport = transport
        let provider = provider(transport, [CookiePlugin(store: store)])
        async let call: PipelineResponse = provider.request(Ask())
        try await transport.waitForRequests(1)
        _ = try await call
        store.close()
        try await provider.signOut()
        async let next: PipelineResponse = provider.request(Ask())
        // Reads the store first.
        await eventually { store.waitingCount == 1 }
        store.open()
        store.close()
        await eventually { store.waitingCount == 1 }
        try await provider.signOut()
        store.open()
        _ = try await next
        #expect(try await "\(store.jar(account: ""))" == "0 cookies")
    }
}
