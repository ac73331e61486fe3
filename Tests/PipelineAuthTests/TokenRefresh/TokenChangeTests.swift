import Foundation
import Pipeline
import PipelineAuth
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("TokenRefreshPlugin: changes of the credential", .tags(.concurrent), .watched)
struct TokenChangeTests: TokenCalls {
    private let bench = TokenBench(refuses: "old")
    /// A slow `onChange` continues when this clock advances by a second.
    private let gate = ManualClock()

    private func slowPlugin() -> TokenRefreshPlugin<Session> {
        TokenRefreshPlugin(
            credential: Session(accessToken: "old"),
            onChange: { [bench, gate] session, reason in
                do { try await gate.sleep(for: .seconds(1)) } catch { Issue.record("onChange was cancelled") }
                bench.note(session, reason)
            },
            refresh: { [bench] old, _ in try await bench.refresh(old) }
        )
    }

    @Test("onChange sees each login, refresh and logout once, but not the restored credential")
    func order() async throws {
        let plugin = bench.plugin()
        #expect(try await bench.provider(plugin).request(Ask.bearer).statusCode == 200)
        await plugin.setCredential(nil)
        await plugin.setCredential(nil)
        await plugin.setCredential(Session(accessToken: "mine"))
        await plugin.setCredential(Session(accessToken: "mine"))
        #expect(
            bench.changes == [
                .init("t1", .refresh), .init(nil, .logOut), .init("mine", .logIn), .init("mine", .logIn),
            ]
        )
    }

    @Test("The description of a change is its name", arguments: ["logIn", "refresh", "logOut", "sessionEnd"])
    func description(name: String) {
        let changes: [TokenCredentialChange] = [.logIn, .refresh, .logOut, .sessionEnd]
        #expect(changes.map { "\($0)" }.filter { $0 == name } == [name])
    }

    @Test("Calls that wait for a refresh continue, and setCredential returns, after onChange returns")
    func waits() async throws {
        let plugin = slowPlugin()
        let provider = bench.provider(plugin)
        let first = calls(1, of: provider)
        try await gate.waitForSleepers()
        #expect(plugin.credential?.accessToken == "t1")
        let second = calls(1, of: provider)
        await bench.waitForCallers(2, of: plugin)
        #expect(bench.sent == ["Bearer old"])
        gate.advance(by: .seconds(1))
        #expect(try await statuses(first + second) == [200, 200])
        #expect(bench.sent == ["Bearer old", "Bearer t1", "Bearer t1"])
        #expect(bench.clock.sleeperCount == 0)
        let logOut = Task {
            await plugin.setCredential(nil)
            return bench.changes
        }
        try await gate.waitForSleepers()
        #expect(plugin.credential == nil)
        #expect(await codes(calls(1, of: provider)) == [.sessionEnded])
        gate.advance(by: .seconds(1))
        #expect(await logOut.value == [.init("t1", .refresh), .init(nil, .logOut)])
        #expect(bench.expired == ["old"])
    }

    @Test("Calls wait for a slow onChange at most until the refresh timeout, then use the new token")
    func slow() async throws {
        let plugin = slowPlugin()
        let calls = calls(2, of: bench.provider(plugin))
        await bench.waitForCallers(2, of: plugin)
        try await gate.waitForSleepers()
        try await bench.clock.waitForSleepers()
        bench.clock.advance(by: .seconds(30))
        #expect(try await statuses(calls) == [200, 200])
        #expect(bench.changes == [])
        gate.advance(by: .seconds(1))
        await TokenBench.wait { !bench.changes.isEmpty }
        #expect(bench.changes == [.init("t1", .refresh)])
    }

    @Test("onChange continues if the last call that waits for it is cancelled, and the next call does not wait")
    func abandoned() async throws {
        let plugin = slowPlugin()
        let provider = bench.provider(plugin)
        let first = calls(1, of: provider)
        try await gate.waitForSleepers()
        first[0].cancel()
        await #expect(throws: CancellationError.self) { try await first[0].value }
        #expect(plugin.waitingCount == 0)
        #expect(try await provider.request(Ask.bearer).statusCode == 200)
        await TokenBench.wait { bench.clock.sleeperCount == 0 }
        gate.advance(by: .seconds(1))
        await TokenBench.wait { !bench.changes.isEmpty }
        #expect(bench.changes == [.init("t1", .refresh)])
        #expect(bench.expired == ["old"])
    }

    @Test("A logout while onChange stores a credential fails the waiting calls and is reported afterwards")
    func logOutMeanwhile() async throws {
        let plugin = slowPlugin()
        let calls = calls(2, of: bench.provider(plugin))
        await bench.waitForCallers(2, of: plugin)
        try await gate.waitForSleepers()
        let logOut = Task { await plugin.setCredential(nil) }
        #expect(await codes(calls) == [.sessionEnded, .sessionEnded])
        await logOut.value
        gate.advance(by: .seconds(1))
        await TokenBench.wait { bench.changes.count == 1 }
        try await gate.waitForSleepers()
        gate.advance(by: .seconds(1))
        await TokenBench.wait { bench.changes.count == 2 }
        #expect(bench.changes == [.init("t1", .refresh), .init(nil, .logOut)])
        #expect(bench.sent.allSatisfy { $0 == "Bearer old" })
    }

    @Test("onChange can show a login sheet and wait for it, and sees the login afterwards")
    func showsLogIn() async throws {
        let (sheet, close) = AsyncStream.makeStream(of: Void.self)
        let plugin = TokenRefreshPlugin(
            credential: Session(accessToken: "old"),
            onChange: { [bench] session, reason in
                if reason == .sessionEnd { for await _ in sheet {} }
                bench.note(session, reason)
            },
            refresh: { _, _ in nil }
        )
        #expect(await codes(calls(1, of: bench.provider(plugin))) == [.sessionEnded])
        Task {
            // The sheet closes when the login is done.
            await plugin.setCredential(Session(accessToken: "mine"))
            close.finish()
        }
        await TokenBench.wait { bench.changes.count == 2 }
        #expect(bench.changes == [.init(nil, .sessionEnd), .init("mine", .logIn)])
    }

    @Test("setCredential returns when its task is cancelled, and onChange still sees the change")
    func cancelled() async throws {
        let plugin = slowPlugin()
        let logIn = Task { await plugin.setCredential(Session(accessToken: "mine")) }
        try await gate.waitForSleepers()
        logIn.cancel()
        await logIn.value
        #expect(bench.changes == [])
        gate.advance(by: .seconds(1))
        await TokenBench.wait { !bench.changes.isEmpty }
        #expect(bench.changes == [.init("mine", .logIn)])
    }

    @Test("onChange sees each of 300 concurrent changes once, one at a time, and the current credential last")
    func concurrent() async throws {
        let isRunning = Atomic(false)
        let plugin = TokenRefreshPlugin(
            credential: Session(accessToken: "old"),
            onChange: { [bench] session, reason in
                let isAlone = !isRunning.exchange(true, ordering: .sequentiallyConsistent)
                #expect(isAlone)
                await Task.yield()
                bench.note(session, reason)
                isRunning.store(false, ordering: .sequentiallyConsistent)
            },
            refresh: { old, _ in old }
        )
        await withTaskGroup { group in
            for number in (0..<300).reversed() {
                group.addTask {
                    await plugin.setCredential(number.isMultiple(of: 3) ? nil : Session(accessToken: "\(number)"))
                }
            }
        }
        await TokenBench.wait {
            let (tokens, current) = (bench.changes.map(\.token), plugin.credential?.accessToken)
            return tokens.count { $0 != nil } == 200 && tokens.last == .some(current)
        }
        let tokens = bench.changes.map(\.token)
        #expect(Set(tokens.compactMap(\.self)).count == 200 && tokens.compactMap(\.self).count == 200)
        #expect(zip(tokens, tokens.dropFirst()).allSatisfy { $0 != nil || $1 != nil })
        #expect(tokens.last == plugin.credential?.accessToken)
        #expect(bench.changes.allSatisfy { ($0.token == nil) == ($0.reason == .logOut) })
    }

    @Test("onChange can set the credential and make calls, which are sent without a token")
    func within() async throws {
        let box = Mutex<(plugin: TokenRefreshPlugin<Session>, provider: Provider<MultiTarget>)?>(nil)
        let plugin = TokenRefreshPlugin(
            credential: Session(accessToken: "old"),
            onChange: { [bench] session, reason in
                bench.note(session, reason)
                guard reason == .refresh, let client = box.withLock({ $0 }) else { return }
                _ = try? await client.provider.request(Ask(path: "/register", authorizationType: .bearer))
                await client.plugin.setCredential(Session(accessToken: "mine"), continuesSession: true)
            },
            refresh: { [bench] old, _ in try await bench.refresh(old) }
        )
        let provider = bench.provider(plugin)
        box.withLock { $0 = (plugin, provider) }
        #expect(try await provider.request(Ask.bearer).statusCode == 200)
        await TokenBench.wait { bench.changes.count == 2 }
        #expect(bench.changes == [.init("t1", .refresh), .init("mine", .logIn)])
        #expect(bench.transport.sent.map(\.path) == ["/b", "/register", "/b"])
        #expect(bench.sent == ["Bearer old", nil, "Bearer mine"])
    }
}
