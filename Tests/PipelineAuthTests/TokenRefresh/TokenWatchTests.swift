import Foundation
import Pipeline
import PipelineAuth
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("TokenRefreshPlugin: what an app sees of its session", .tags(.concurrent), .watched)
struct TokenWatchTests {
    private struct Lease: TokenCredential {
        var accessToken: String
        var expiresIn: Duration?
    }

    private func failure(_ provider: Provider<MultiTarget>) async -> PipelineError? {
        await #expect(throws: PipelineError.self) { try await provider.request(Ask.bearer) }
    }

    @Test("Readers get the current credential first, and then each change with its reason")
    func changes() async throws {
        let bench = TokenBench { _ in true }
        let plugin = bench.plugin("a")
        var readers = [plugin.changes.makeAsyncIterator(), plugin.changes.makeAsyncIterator()]
        for index in readers.indices {
            let first = await readers[index].next()
            #expect(first?.credential?.accessToken == "a" && first?.reason == nil)
        }
        await plugin.setCredential(bench.session("b"))
        await plugin.setCredential(nil)
        for index in readers.indices {
            let change = await readers[index].next()
            // A slow reader misses the login, but not the newest change.
            #expect(change?.credential == nil && change?.reason == .logOut)
        }
        await plugin.setCredential(bench.session("c"))
        #expect(await readers[0].next()?.credential?.accessToken == "c")
        var late = plugin.changes.makeAsyncIterator()
        #expect(await late.next()?.credential?.accessToken == "c")
    }

    @Test("A refresh and the end of a session are changes, too; no call waits for a reader")
    func refreshes() async throws {
        let bench = TokenBench(refuses: "old")
        let plugin = bench.plugin()
        var reader = plugin.changes.makeAsyncIterator()
        _ = await reader.next()
        _ = try await bench.provider(plugin).request(Ask.bearer)
        let change = await reader.next()
        #expect(change?.credential?.accessToken == "t1" && change?.reason == .refresh)

        let ending = TokenRefreshPlugin(credential: bench.session("old")) { _, _ in nil }
        reader = ending.changes.makeAsyncIterator()
        _ = await reader.next()
        let error = await failure(bench.provider(ending))
        #expect(error?.code == .sessionEnded)
        let end = await reader.next()
        #expect(end?.credential == nil && end?.reason == .sessionEnd)
    }

    @Test("The changes end when the plugin is gone")
    func end() async {
        var plugin: TokenRefreshPlugin<Session>? = TokenBench { _ in true }.plugin("a")
        var reader = plugin?.changes.makeAsyncIterator()
        _ = await reader?.next()
        plugin = nil
        let change = await reader?.next()
        #expect(change == nil)
    }

    @Test("A lifetime is counted on the provider's clock, from a login and from a refresh")
    func lifetime() async throws {
        let clock = ManualClock()
        let transport = ScriptedTransport(always: .status(200))
        let plugin = TokenRefreshPlugin(credential: Lease(accessToken: "a", expiresIn: .seconds(3_600))) { old, _ in
            Lease(accessToken: old.accessToken + "a", expiresIn: .seconds(3_600))
        }
        let provider = Provider<Ask>(transport: transport, plugins: [plugin], configuration: .init(clock: clock))
        func token() async throws -> String? {
            _ = try await provider.request(.bearer)
            return transport.sent.last?.headers[.authorization]
        }
        #expect(try await token() == "Bearer a")
        clock.advance(by: .seconds(3_530))
        #expect(try await token() == "Bearer a")
        // Within the leeway of a minute.
        clock.advance(by: .seconds(20))
        #expect(try await token() == "Bearer aa")
        clock.advance(by: .seconds(3_530))
        #expect(try await token() == "Bearer aa")
        clock.advance(by: .seconds(20))
        #expect(try await token() == "Bearer aaa")
        await plugin.setCredential(Lease(accessToken: "b", expiresIn: .seconds(100)))
        #expect(try await token() == "Bearer b")
        // Of a short lifetime, the leeway is at most half.
        clock.advance(by: .seconds(60))
        #expect(try await token() == "Bearer ba")
    }

    @Test("The error of an ended session says how it ended, when, and which response the refresh got")
    func reasons() async throws {
        let bench = TokenBench(refuses: "old")
        let plugin = TokenRefreshPlugin(credential: bench.session("old")) { _, _ in nil }
        let provider = bench.provider(plugin)
        var error = await failure(provider)
        let end = "the session of the call has ended: the refresh returned no credential 0 ms ago"
        #expect(error?.reason == end + "; log in, then retry the call")
        bench.clock.advance(by: .milliseconds(40))
        error = await failure(provider)
        #expect(error?.reason.contains("no credential 40 ms ago") == true)
        await plugin.setCredential(bench.session("new"))
        await plugin.setCredential(nil)
        bench.clock.advance(by: .seconds(20))
        error = await failure(provider)
        #expect(error?.reason.contains("the application removed the credential 20 s ago") == true)
        let fresh = bench.plugin(nil)
        error = await failure(bench.provider(fresh))
        #expect(error?.reason == "no session has begun; log in, then retry the call")
    }

    @Test("If the refresh uses the plugin's own stack, its response is named, without a secret")
    func answer() async throws {
        let transport = ScriptedTransport { request, _ in .status(request.path.hasPrefix("/token") ? 400 : 401) }
        let own = Mutex<Provider<MultiTarget>?>(nil)
        let plugin = TokenRefreshPlugin(credential: Session(accessToken: "old")) { _, _ in
            let ask = Ask(url: "https://a.test/token?secret=CANARY", path: "", method: .post)
            _ = try await own.withLock(\.self)?.request(ask)
            return nil
        }
        let provider = Provider<MultiTarget>(transport: transport, plugins: [plugin])
        own.withLock { $0 = provider }
        let error = await failure(provider)
        own.withLock { $0 = nil }
        #expect(error?.reason.contains("after POST https://a.test/token?secret=…: 400, ") == true)
        #expect(error?.reason.contains("CANARY") == false)
    }
}
