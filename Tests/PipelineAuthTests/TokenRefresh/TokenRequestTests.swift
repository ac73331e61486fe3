import Foundation
import Pipeline
import PipelineAuth
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("TokenRefreshPlugin: refresh through its own provider", .tags(.concurrent), .realTime, .watched)
struct TokenRequestTests {
    /// A provider that the closure of its own plugin can reach.
    private final class Client: Sendable {
        private let provider = Mutex<Provider<Ask>?>(nil)

        func set(_ provider: Provider<Ask>) { self.provider.withLock { $0 = provider } }

        func token(_ options: RequestOptions = RequestOptions()) async throws -> String {
            let provider = try #require(provider.withLock { $0 })
            let target = Ask(path: "/token", validationType: .successCodes, authorizationType: .bearer)
            return try await provider.request(target, options: options).mapString()
        }
    }

    private let clock = ManualClock()
    private let client = Client()
    private let transport = ScriptedTransport { request, _ in
        if request.path == "/token" { return .status(request.headers[.authorization] == nil ? 200 : 401, body: "new") }
        return request.headers[.authorization] == "Bearer new" ? .status(200) : .status(401)
    }

    private func provider(
        _ refresh: @escaping @Sendable (Client) async throws -> String
    ) -> Provider<Ask> {
        let plugin = TokenRefreshPlugin(credential: Session(accessToken: "old")) { [client] _, _ in
            Session(accessToken: try await refresh(client))
        }
        let provider = Provider<Ask>(transport: transport, plugins: [plugin], configuration: .init(clock: clock))
        client.set(provider)
        return provider
    }

    @Test(
        "A05 A refresh through the same provider has no token and does not wait for itself, option or not",
        arguments: [true, false]
    )
    func sameProvider(saysSo: Bool) async throws {
        let provider = provider { try await $0.token(.init { $0.isTokenRequest = saysSo }) }
        #expect(try await provider.request(.bearer).statusCode == 200)
        #expect(transport.sent.map(\.path) == ["/b", "/token", "/b"])
        #expect(transport.sent.map { $0.headers[.authorization] } == ["Bearer old", nil, "Bearer new"])
    }

    /// Notes which requests go first in queues.
    private struct PriorityLog: Stage.WillSend {
        let priorities = Results<String>()

        func willSend(_ request: PipelineRequest, context: PipelineContext) {
            priorities.add("\(request.path) \(context.options.priority == .high)")
        }
    }

    @Test("A refresh goes first in the queues of its own provider, option or not", arguments: [true, false])
    func priority(saysSo: Bool) async throws {
        let log = PriorityLog()
        let plugin = TokenRefreshPlugin(credential: Session(accessToken: "old")) { [client] _, _ in
            Session(accessToken: try await client.token(.init { $0.isTokenRequest = saysSo }))
        }
        let provider = Provider<Ask>(transport: transport, plugins: [plugin, log], configuration: .init(clock: clock))
        client.set(provider)
        _ = try await provider.request(.bearer)
        #expect(log.priorities.all == ["/b false", "/token true", "/b false"])
    }

    @Test("A call that reports a new token waits in queues like any other")
    func priorityOfReport() async throws {
        let log = PriorityLog()
        let plugin = TokenRefreshPlugin(
            credential: Session(accessToken: "old"),
            onChange: { [client] _, _ in _ = try? await client.token() },
            refresh: { _, _ in Session(accessToken: "new") }
        )
        let provider = Provider<Ask>(transport: transport, plugins: [plugin, log], configuration: .init(clock: clock))
        client.set(provider)
        _ = try await provider.request(.bearer)
        #expect(log.priorities.all == ["/b false", "/token false", "/b false"])
    }

    @Test("A05 A refresh in child tasks or an unstructured task is also recognized")
    func tasks() async throws {
        let provider = provider { client in
            async let first = client.token()
            let second = Task { try await client.token() }
            return try await first == second.value ? try await first : ""
        }
        #expect(try await provider.request(.bearer).statusCode == 200)
        #expect(transport.sent.map(\.path) == ["/b", "/token", "/token", "/b"])
    }

    @Test("A05 A refresh that is itself refused fails and causes no other refresh")
    func refusedItself() async throws {
        let count = Atomic(0)
        let provider = provider { client in
            count.add(1, ordering: .relaxed)
            _ = try await client.token(.init { $0.isTokenRequest = false })
            throw PipelineError(.unacceptableStatus, "no")
        }
        let error = await #expect(throws: PipelineError.self) { try await provider.request(.bearer) }
        #expect(error?.code == .tokenRefresh)
        #expect(count.load(ordering: .relaxed) == 1)
    }

    @Test("A05 In a detached task, the option marks a call as part of the refresh")
    func detachedWithOption() async throws {
        let provider = provider { client in
            try await Task.detached { try await client.token(.init { $0.isTokenRequest = true }) }.value
        }
        #expect(try await provider.request(.bearer).statusCode == 200)
    }

    @Test("A05 In a detached task without the option, the refresh ends at its timeout")
    func detachedWithoutOption() async throws {
        let provider = provider { client in try await Task.detached { try await client.token() }.value }
        let call = Task { try await provider.request(.bearer) }
        try await clock.waitForSleepers()
        clock.advance(by: .seconds(30))
        let error = await #expect(throws: PipelineError.self) { try await call.value }
        #expect(error?.code == .timeout(.tokenRefresh))
    }

    @Test("A task that outlives the refresh that started it is treated like any other")
    func outlives() async throws {
        let gate = ManualClock()
        let later = Mutex<Task<String, any Error>?>(nil)
        let provider = provider { client in
            let task = Task {
                try await gate.sleep(for: .seconds(1))
                return try await client.token()
            }
            later.withLock { $0 = task }
            return try await client.token()
        }
        #expect(try await provider.request(.bearer).statusCode == 200)
        // The request of this task causes a refresh, which begins another task.
        let task = try #require(later.withLock { $0 })
        try await gate.waitForSleepers()
        gate.advance(by: .seconds(1))
        // The token endpoint refuses requests with a token, and this request had one.
        await #expect(throws: PipelineError.self) { try await task.value }
        #expect(transport.sent.last?.headers[.authorization] == "Bearer new")
    }

    @Test("A01 A05 Over HTTP, many calls cause one refresh through the same provider")
    func loopback() async throws {
        let server = try LoopbackServer { request in
            if request.target == "/token" { return [.respond(200, body: "new")] }
            return request.values(of: "Authorization") == ["Bearer new"]
                ? [.respond(200, body: request.target + String(decoding: request.body, as: UTF8.self))]
                : [.respond(401, headers: [("WWW-Authenticate", "Bearer error=\"invalid_token\"")], body: "no")]
        }
        defer { server.stop() }
        let url = server.url.absoluteString
        let box = Mutex<Provider<Ask>?>(nil)
        let plugin = TokenRefreshPlugin(credential: Session(accessToken: "old")) { _, _ in
            let provider = try #require(box.withLock { $0 })
            let token = try await provider.request(Ask(url: url, path: "/token", authorizationType: .bearer))
                .mapString()
            return Session(accessToken: token)
        }
        let provider = Provider<Ask>(transport: URLSessionTransport(), plugins: [plugin])
        box.withLock { $0 = provider }
        let bodies = try await withThrowingTaskGroup(of: String.self) { group in
            for number in 0..<40 {
                group.addTask {
                    let data = Data("\(number)".utf8)
                    let target = Ask(
                        url: url,
                        path: "/put",
                        method: .put,
                        task: .requestData(data),
                        authorizationType: .bearer
                    )
                    if number.isMultiple(of: 2) { return try await provider.request(target).mapString() }
                    return String(decoding: try await provider.stream(target).body.reduce(Data(), +), as: UTF8.self)
                }
            }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(bodies == Set((0..<40).map { "/put\($0)" }))
        #expect(server.requests.count { $0.target == "/token" } == 1)
        #expect(server.requests.count { $0.values(of: "Authorization") == ["Bearer new"] } == 40)
    }
}
