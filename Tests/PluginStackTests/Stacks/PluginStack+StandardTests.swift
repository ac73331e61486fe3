import Pipeline
import PipelineResilience
import PipelineTesting
import TestSupport
import Testing

@Suite("PluginStack.standard", .tags(.concurrent), .watched)
struct PluginStackStandardTests {
    @Test("The stack shows exactly what runs per call and per exchange, and its order has no findings")
    func explanation() {
        let stack = PluginStack.standard { AccessTokenPlugin { _ in "token" } }
        let provider = Provider<Ask>(transport: ScriptedTransport(always: .status(200)), plugins: [stack])
        #expect(
            "\(provider.explain())" == """
                call
                ├─ 1 LoggingPlugin              process, didFinish
                └─ 2 TimeoutPlugin              prepare, intercept if totalTimeout
                   ├─ 3 RequestIDPlugin         prepare
                   └─ 4 RetryPlugin             prepare if idempotencyKey, intercept
                      ├─ 5 AccessTokenPlugin    prepare
                      └─ 6 DeduplicationPlugin  intercept
                         └─ 7 GzipPlugin        intercept
                wire (each exchange)
                ├─ 1 LoggingPlugin              willSend, didReceive
                └─ ScriptedTransport            bodies arrive as on the wire
                findings: none
                """
        )
    }

    @Test("The stack can be nested in another stack, next to plugins of your own")
    func nesting() {
        let stack = PluginStack {
            PluginStack.prepare(name: "own") { _, _ in }
            PluginStack.standard
        }
        #expect(stack.plugins.count == PluginStack.standard.plugins.count + 1)
        #expect(stack.plugins.map(\.name).contains("AccessTokenPlugin") == false)
    }

    @Test("Credentials go inside RetryPlugin, and plugins after the stack are inside it")
    func slots() {
        let provider = Provider<Ask>(
            transport: ScriptedTransport([]),
            plugins: [
                .standard {
                    AccessTokenPlugin { _ in "token" }
                    HeadersPlugin(["Accept-Language": "en"])
                },
                .willSend(name: "own") { _, _ in },
            ]
        )
        let names = provider.plugins.map(\.name)
        #expect(
            Array(names.suffix(6)) == [
                "RetryPlugin", "AccessTokenPlugin", "HeadersPlugin", "DeduplicationPlugin", "GzipPlugin", "own",
            ]
        )
    }

    @Test("A call through the stack is retried with the same request ID, and asks for a content coding")
    func call() async throws {
        let clock = ManualClock()
        let transport = ScriptedTransport([.status(503), .status(200, body: "ok")])
        let provider = Provider<Ask>(transport: transport, plugins: [.standard], configuration: .init(clock: clock))
        let response = try await clock.run { try await provider.request(Ask()) }
        #expect(try response.mapString() == "ok")
        #expect(transport.sent.map { $0.headers[.acceptEncoding] != nil } == [true, true])
        #expect(Set(transport.sent.map { $0.headers[.init("X-Request-Id") ?? .accept] }).count == 1)
    }

    @Test("Equal calls through the stack share an exchange, with the stack's timeouts")
    func sharing() async throws {
        let clock = ManualClock()
        let transport = ScriptedTransport(always: .delayed(.seconds(1), .status(200, body: "ok")))
        let stack = PluginStack.standard { AccessTokenPlugin { _ in "token" } }
        let provider = Provider<Ask>(transport: transport, plugins: [stack], configuration: .init(clock: clock))
        let calls = (0..<50).map { _ in Task { try await provider.request(Ask(authorizationType: .bearer)) } }
        await eventually {
            provider.plugins.contains { ($0 as? DeduplicationPlugin)?.callerCount == 50 } && clock.sleeperCount == 2
        }
        clock.advance(by: .seconds(1))
        for call in calls { #expect(try await call.value.mapString() == "ok") }
        #expect(transport.sent.count == 1)
        #expect(transport.sent.first?.idleTimeout == .seconds(60))
        // V09: one that hangs does not hold the others for as long as the transport waits.
        #expect(transport.sent.first?.attemptTimeout == .seconds(30))
    }

    @Test("G11: a head after five minutes of silence needs an attempt timeout, and with resilient a total, beyond that")
    func longPolling() async throws {
        let clock = ManualClock()
        func outcome(_ stack: PluginStack, _ options: RequestOptions) async throws -> PipelineError.Code? {
            let transport = ScriptedTransport(always: .delayed(.seconds(300), .status(200)))
            let plugins: [any PluginType] = [stack]
            let provider = Provider<Ask>(transport: transport, plugins: plugins, configuration: .init(clock: clock))
            do {
                let start = clock.now
                _ = try await clock.run { try await provider.request(Ask(), options: options) }
                #expect(start.duration(to: clock.now) == .seconds(300))
                return nil
            } catch let error as PipelineError {
                return error.code
            }
        }
        let patient = RequestOptions { $0.attemptTimeout = .seconds(360) }
        let both = RequestOptions { ($0.attemptTimeout, $0.totalTimeout) = (.seconds(360), .seconds(360)) }
        let unlimited = PluginStack.standard(.timeouts(TimeoutPlugin(idle: .seconds(600))))
        #expect(try await outcome(.standard, RequestOptions()) == .timeout(.attempt))
        #expect(try await outcome(.standard, patient) == nil)
        #expect(try await outcome(unlimited, RequestOptions()) == nil)
        #expect(try await outcome(.standard(.resilient), RequestOptions()) == .timeout(.attempt))
        #expect(try await outcome(.standard(.resilient), patient) == .timeout(.total))
        #expect(try await outcome(.standard(.resilient), both) == nil)
    }
}
