import Foundation
import Pipeline
import PipelineAPI
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("APIRequest: options for plugins", .tags(.concurrent), .watched)
struct APIRequestOptionsTests {
    private func client(_ transport: ScriptedTransport, _ clock: ManualClock, _ plugins: any PluginType...) -> APIClient
    {
        APIClient(
            Provider<MultiTarget>(transport: transport, plugins: plugins, configuration: .init(clock: clock)),
            server: ServerURL(base: "https://api.example.com")
        )
    }

    @Test("C20 additionalTimeout delays a success until that time has passed since the call began")
    func additionalTimeout() async throws {
        let clock = ManualClock()
        let api = client(ScriptedTransport(always: .status(200)), clock, MinimumDurationPlugin(.zero))
        let request = APIRequest<IgnoredBody>("x").additionalTimeout(.seconds(2))
        async let answer = api.send(request)
        #expect(try await clock.advanceToNextSleeper() == .seconds(2))
        _ = try await answer
    }

    @Test(
        "C20 additionalTimeout does not delay a failure, unless the plugin delays all results",
        arguments: [(MinimumDurationPlugin.Results.success, Duration.zero), (.always, .seconds(2))]
    )
    func failureWithAdditionalTimeout(results: MinimumDurationPlugin.Results, duration: Duration) async throws {
        for step in [ScriptedTransport.Step.status(500), .failure(.offline)] {
            let clock = ManualClock()
            let start = clock.now
            let moving = Task {
                while !Task.isCancelled { try await clock.advanceToNextSleeper() }
            }
            let api = client(ScriptedTransport(always: step), clock, MinimumDurationPlugin(.zero, appliesTo: results))
            let request = APIRequest<IgnoredBody>("x").additionalTimeout(.seconds(2))
            await #expect(throws: PipelineError.self) { try await api.send(request) }
            #expect(start.duration(to: clock.now) == duration)
            moving.cancel()
        }
    }

    @Test(
        "C22 B-C11 retry(on:attempts:) retries idempotent requests after the given statuses, at most that many times"
    )
    func retry() async throws {
        let clock = ManualClock()
        let transport = ScriptedTransport(always: .status(418))
        let api = client(transport, clock, RetryPlugin())
        let request = APIRequest<IgnoredBody>("x").retry(on: [418], attempts: 2)
        let task = Task { try await api.send(request) }
        for _ in 0..<2 { try await clock.advanceToNextSleeper() }
        await #expect(throws: PipelineError.self) { try await task.value }
        #expect(transport.sent.count == 3)
        await #expect(throws: PipelineError.self) { try await api.send(request.method(.post)) }
        #expect(transport.sent.count == 4)
        await #expect(throws: PipelineError.self) { try await api.send(request.options { $0.retry = .never }) }
        #expect(transport.sent.count == 5)
    }

    @Test("B-C10 onTimeout runs once for a timeout that is retried, after the last attempt")
    func timeoutOnce() async throws {
        let clock = ManualClock()
        let events = Mutex<[String]>([])
        let transport = ScriptedTransport(always: .failure(.timeout(.connect)))
        let api = client(transport, clock, RetryPlugin(maximumAttempts: 3))
        let handle = api.call(APIRequest<IgnoredBody>("x"))
            .onTimeout { events.withLock { $0.append("timeout after \(transport.sent.count)") } }
            .onError { error in events.withLock { $0.append("\(error.code)") } }
            .execute()
        for _ in 0..<2 { try await clock.advanceToNextSleeper() }
        await handle.value
        #expect(events.withLock { $0 } == ["timeout after 3"])
    }

    @Test("B-C25 Logging is silent when off, and at any other level shows no credential and no secret of a body")
    func quietLog() async throws {
        struct Login: JSONPayload { var password = "canary" }
        let request = APIRequest<IgnoredBody>("x", payload: Login()).method(.post).bearer("canary").addHeaders([
            "X-Key": "canary"
        ])
        for level in [LoggingPlugin.Level.off, .error, .info, .debug, .trace] {
            let lines = Mutex<[String]>([])
            let logging = LoggingPlugin(level: level) { _, line in lines.withLock { $0.append(line) } }
            let transport = ScriptedTransport([.status(200, body: #"{"token":"canary"}"#), .status(500)])
            let api = client(transport, ManualClock(), logging)
            _ = try await api.send(request)
            await #expect(throws: PipelineError.self) { try await api.send(request) }
            let text = lines.withLock { $0.joined() }
            #expect(text.isEmpty == (level == .off) && !text.contains("canary"))
        }
    }

    @Test("C21 With avoidLogError, LoggingPlugin does not log a failure")
    func avoidLogError() async throws {
        let lines = Mutex<[String]>([])
        let logging = LoggingPlugin(level: .error) { _, line in lines.withLock { $0.append(line) } }
        let api = client(ScriptedTransport(always: .status(500)), ManualClock(), logging)
        let request = APIRequest<IgnoredBody>("x")
        await #expect(throws: PipelineError.self) { try await api.send(request.options { $0.avoidLogError = true }) }
        #expect(lines.withLock { $0.isEmpty })
        await #expect(throws: PipelineError.self) { try await api.send(request) }
        #expect(lines.withLock { !$0.isEmpty })
    }

    @Test("C22 retry(on:attempts:) retries only after the given statuses, not after other failures")
    func retryNothingElse() async throws {
        let transport = ScriptedTransport([.failure(.offline), .failure(.timeout(.attempt)), .status(503)])
        let api = client(transport, ManualClock(), RetryPlugin())
        for (count, request) in [APIRequest<IgnoredBody>("x"), APIRequest("y"), APIRequest("z")].enumerated() {
            let retried = request.retry(on: [.tooManyRequests], attempts: .max)
            await #expect(throws: PipelineError.self) { try await api.send(retried) }
            #expect(transport.sent.count == count + 1)
        }
    }

    @Test("A negative number of attempts traps")
    func nonsense() async {
        await #expect(processExitsWith: .failure) { _ = APIRequest<IgnoredBody>("x").retry(on: [.gone], attempts: -1) }
    }

    @Test("authorized() asks a token plugin for a token; without it, no token is sent")
    func token() async throws {
        let transport = ScriptedTransport(always: .status(200))
        let api = client(transport, ManualClock(), AccessTokenPlugin { _ in "abc" })
        _ = try await api.send(APIRequest<IgnoredBody>("x"))
        _ = try await api.send(APIRequest<IgnoredBody>("x").authorized())
        _ = try await api.send(APIRequest<IgnoredBody>("x").bearer("own").authorized(.custom("Token")))
        #expect(transport.sent.map { $0.headers[.authorization] } == [nil, "Bearer abc", "Token abc"])
    }

    @Test("A plugin sends its credentials to the server that is in effect for the call")
    func originInForce() async throws {
        let transport = ScriptedTransport(always: .status(200))
        let api = client(transport, ManualClock(), AccessTokenPlugin { _ in "abc" })
        let request = APIRequest<IgnoredBody>("x").authorized().serverURL(ServerURL(base: "https://other.example.com"))
        _ = try await api.send(request)
        #expect(transport.sent.map(\.host) == ["other.example.com"])
        #expect(transport.sent.first?.headers[.authorization] == "Bearer abc")
    }

    @Test("Options of a request override those of its client, key by key")
    func options() async throws {
        let clock = ManualClock()
        let transport = ScriptedTransport(always: .status(503))
        var api = client(transport, clock, RetryPlugin())
        api.options.retry = .never
        await #expect(throws: PipelineError.self) { try await api.send(APIRequest<IgnoredBody>("x")) }
        #expect(transport.sent.count == 1)
        let retried = APIRequest<IgnoredBody>("x").options { $0.retry = .init(maximumAttempts: 2) }
        let task = Task { [api] in try await api.send(retried) }
        try await clock.advanceToNextSleeper()
        await #expect(throws: PipelineError.self) { try await task.value }
        #expect(transport.sent.count == 3)
    }

    @Test("A custom target with modifiers has those of the plugins, too")
    func strangersTarget() {
        struct Ask: OptionsModifying {
            let baseURL = URL(filePath: "/")
            let path = ""
            let method = HTTPMethod.get
            let task = RequestTask.requestPlain
            var options = RequestOptions()

            func options(_ configure: (inout RequestOptions) -> Void) -> Ask {
                var copy = self
                configure(&copy.options)
                return copy
            }
        }
        let ask = Ask().additionalTimeout(.seconds(2)).retry(on: [.gone], attempts: 2)
        #expect(ask.options.minimumDuration == .seconds(2))
        #expect(ask.options.retry.maximumAttempts == 3)
    }
}
