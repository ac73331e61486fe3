import Foundation
import Pipeline
import PipelineAuth
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("UnauthorizedPlugin", .tags(.concurrent), .realTime, .watched)
struct UnauthorizedPluginTests {
    /// The responses the closure received, in order.
    private final class Told: Sendable {
        private let list = Mutex<[PipelineResponse]>([])

        var responses: [PipelineResponse] { list.withLock { $0 } }

        var plugin: UnauthorizedPlugin {
            UnauthorizedPlugin { response, _ in
                if let response { self.list.withLock { $0.append(response) } }
            }
        }
    }

    private let told = Told()

    private func provider(_ transport: ScriptedTransport, _ plugins: any PluginType...) -> Provider<Ask> {
        Provider(transport: transport, plugins: plugins)
    }

    @Test("The plugin passes the conformance suite")
    func conformance() async {
        #expect(await PluginConformance { UnauthorizedPlugin { _, _ in } }.run() == [])
    }

    // MARK: Effects

    @Test("C29 The closure is called once, and only for a 401", arguments: [200, 302, 400, 401, 403, 407, 500])
    func statuses(status: Int) async throws {
        let transport = ScriptedTransport(always: .status(status, body: "why"))
        let response = try await provider(transport, told.plugin).request(Ask())
        #expect(response.statusCode == status)
        #expect(told.responses.map(\.statusCode) == (status == 401 ? [401] : []))
        #expect(told.responses.allSatisfy { $0.data == Data("why".utf8) })
    }

    @Test("The closure is also called if the status makes the call fail")
    func validation() async throws {
        let transport = ScriptedTransport(always: .status(401))
        let provider = provider(transport, told.plugin)
        let error = await #expect(throws: PipelineError.self) {
            try await provider.request(Ask(validationType: .successCodes))
        }
        #expect(error?.code == .unacceptableStatus)
        #expect(told.responses.count == 1)
    }

    @Test("The closure is not called if the target accepts 401 explicitly")
    func wanted() async throws {
        let provider = provider(ScriptedTransport(always: .status(401)), told.plugin)
        _ = try await provider.request(Ask(validationType: .customCodes([200, 401])))
        #expect(told.responses.isEmpty)
        _ = try? await provider.request(Ask(validationType: .customCodes([200])))
        #expect(told.responses.count == 1)
    }

    @Test("The closure is called with the response of a failure, if it has one; failures pass unchanged")
    func failures() async throws {
        let failing = PluginStack.intercept { request, _, next in
            throw PipelineError(.plugin, "refused", response: try await next(request))
        }
        let provider = provider(ScriptedTransport([.status(401), .failure(.connectionLost)]), told.plugin, failing)
        let first = await #expect(throws: PipelineError.self) { try await provider.request(Ask()) }
        #expect(first?.reason == "refused")
        let second = await #expect(throws: PipelineError.self) { try await provider.request(Ask()) }
        #expect(second?.code == .connectionLost)
        #expect(told.responses.count == 1)
    }

    @Test("The caller gets the response only after the closure has returned")
    func order() async throws {
        let clock = ManualClock()
        let hasReturned = Atomic(false)
        let plugin = UnauthorizedPlugin { _, context in
            try? await context.clock.sleep(for: .seconds(5))
            hasReturned.store(true, ordering: .relaxed)
        }
        let transport = ScriptedTransport(always: .status(401))
        let provider = Provider<Ask>(transport: transport, plugins: [plugin], configuration: .init(clock: clock))
        let call = Task {
            _ = try await provider.request(Ask())
            return hasReturned.load(ordering: .relaxed)
        }
        #expect(try await clock.advanceToNextSleeper() == .seconds(5))
        #expect(try await call.value)
    }

    @Test("The closure is not called for a 401 from another origin", arguments: ["https://b.test/", "/c"])
    func redirected(location: String) async throws {
        let transport = ScriptedTransport([.status(302, headers: [.location: location]), .status(401)])
        #expect(try await provider(transport, told.plugin).request(Ask()).statusCode == 401)
        #expect(told.responses.count == (location == "/c" ? 1 : 0))
    }

    @Test("The closure is not called for a 401 from an origin to which a plugin redirected the request")
    func led() async throws {
        let leading = PluginStack.prepare { request, _ in request.head.authority = "b.test" }
        let transport = ScriptedTransport(always: .status(401))
        #expect(try await provider(transport, told.plugin, leading).request(Ask()).statusCode == 401)
        #expect(told.responses.isEmpty)
    }

    @Test("A one-shot body is left out of the closure's copy, and the caller gets all of it")
    func stream() async throws {
        let read = Mutex<[Data]>([])
        let plugin = UnauthorizedPlugin { response, _ in
            var copy = response
            copy?.head.status = .ok
            let data = try? await copy?.body.collect(upTo: 100)
            read.withLock { $0.append(data ?? Data("unread".utf8)) }
        }
        let chunks = AsyncStream<Data> { continuation in
            continuation.yield(Data("why".utf8))
            continuation.finish()
        }
        let transport = ScriptedTransport(always: .status(401, body: .stream(chunks)))
        let response = try await provider(transport, plugin).stream(Ask())
        #expect(response.statusCode == 401)
        var data = Data()
        for try await chunk in response.body { data.append(chunk) }
        #expect(data == Data("why".utf8))
        #expect(read.withLock { $0 } == [Data()])
    }

    @Test("The closure is called exactly once for each of 100 concurrent calls")
    func concurrent() async throws {
        let provider = provider(ScriptedTransport(always: .status(401)), told.plugin)
        await withTaskGroup { group in
            for number in 0..<100 {
                group.addTask { _ = try? await provider.request(Ask(path: "/\(number)")) }
            }
        }
        #expect(Set(told.responses.map(\.request.path)).count == 100)
        #expect(told.responses.count == 100)
    }

    // MARK: Position

    @Test("Outside a retry plugin the closure is called for the last 401; inside it, for each one")
    func position() async throws {
        let again = PluginStack.intercept { request, _, next in
            let response = try await next(request)
            return response.statusCode == 401 ? try await next(request) : response
        }
        for (statuses, isOutside, count) in [
            ([401, 200], true, 0), ([401, 401], true, 1), ([401, 200], false, 1), ([401, 401], false, 2),
        ] {
            let told = Told()
            let transport = ScriptedTransport(statuses.map { .status($0) })
            let plugins: [any PluginType] = isOutside ? [told.plugin, again] : [again, told.plugin]
            _ = try await Provider<Ask>(transport: transport, plugins: plugins).request(Ask())
            #expect(told.responses.count == count)
        }
    }

    @Test("CredentialsPlugin handles a 401 before the closure is called, in either order", arguments: [true, false])
    func answered(isOutside: Bool) async throws {
        let credentials = CredentialsPlugin { _ in .init(username: "u", password: "p") }
        let steps: [ScriptedTransport.Step] = [
            .status(401, headers: [.wwwAuthenticate: "Basic realm=r"]), .status(200),
        ]
        let plugins: [any PluginType] = isOutside ? [told.plugin, credentials] : [credentials, told.plugin]
        let provider = Provider<Ask>(transport: ScriptedTransport(steps), plugins: plugins)
        #expect(provider.explain().findings.isEmpty)
        #expect(try await provider.request(Ask()).statusCode == 200)
        #expect(told.responses.isEmpty)
    }

    @Test("Over a real connection the closure gets the response's header fields")
    func loopback() async throws {
        let server = try LoopbackServer { _ in [.respond(401, headers: [("WWW-Authenticate", "Bearer")])] }
        defer { server.stop() }
        let provider = Provider<Ask>(transport: URLSessionTransport(), plugins: [told.plugin])
        #expect(try await provider.request(Ask(url: server.url.absoluteString)).statusCode == 401)
        #expect(told.responses.map { $0.headers[.wwwAuthenticate] } == ["Bearer"])
    }
}
