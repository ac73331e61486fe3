import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("Annotations and health", .watched)
struct PluginAnnotationTests {
    private struct Waiting: Stage.Exchange, HealthReporting {
        func exchange(
            _ request: PipelineRequest,
            context: PipelineContext,
            send: Stage.Send
        ) async throws -> PipelineResponse {
            context.annotate("waited", by: self, duration: .milliseconds(20))
            let response = try await send(request)
            if response.statusCode == 503 { context.annotate("opened", by: self) }
            return response
        }

        func health(on clock: PipelineClock) -> PluginHealth {
            PluginHealth(.degraded, details: ["https://a.test": "open"], gauges: ["https://a.test": [.limit: 5]])
        }
    }

    @Test("An annotation is part of the exchanges of its attempt and hop and of the outcome, in order")
    func annotations() async throws {
        let ended = Mutex<[PipelineContext.Annotation]>([])
        let provider = Provider<Ask>(
            transport: ScriptedTransport([.status(503), .status(200)]),
            plugins: [
                .didFinish { outcome, _ in ended.withLock { $0 = outcome.annotations } },
                .intercept { request, _, next in
                    _ = try await next(request)
                    return try await next(request)
                },
                Waiting(),
            ]
        )
        let response = try await provider.request(Ask())
        #expect(response.exchanges.map { $0.annotations.map(\.event) } == [["waited", "opened"], ["waited"]])
        #expect(response.exchanges.last?.annotations.first?.description == "Waiting waited 20 ms")
        #expect(response.exchanges.first?.description.contains("Waiting waited 20 ms, Waiting opened") == true)
        #expect(ended.withLock { $0.map(\.event) } == ["waited", "opened", "waited"])
    }

    @Test("A call keeps the first 100 annotations")
    func limit() async throws {
        let count = Mutex(0)
        let provider = Provider<Ask>(
            transport: ScriptedTransport(always: .status(200)),
            plugins: [
                .didFinish { outcome, _ in count.withLock { $0 = outcome.annotations.count } },
                .prepare { _, context in for _ in 0..<1_000 { context.annotate("waited", by: Waiting()) } },
            ]
        )
        _ = try await provider.request(Ask())
        #expect(count.withLock { $0 } == 100)
    }

    @Test("health lists the plugins that report it, with their names, as JSON if wanted")
    func health() throws {
        let provider = Provider<Ask>(
            transport: ScriptedTransport(always: .status(200)),
            plugins: [Waiting(), .prepare { _, _ in }]
        )
        #expect(provider.health.map(\.plugin) == ["Waiting"])
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let json = String(decoding: try encoder.encode(provider.health), as: UTF8.self)
        let details = #""details":{"https://a.test":"open"},"gauges":{"https://a.test":{"limit":5}}"#
        #expect(json == #"[{\#(details),"plugin":"Waiting","status":"degraded"}]"#)
    }

    @Test("An exchange plugin gets no response that arrives after its call was cancelled")
    func lateResponse() async throws {
        let seen = Mutex<[String]>([])
        let transport = ScriptedTransport(
            always: .answer { request, _ in
                withUnsafeCurrentTask { $0?.cancel() }
                return PipelineResponse(request: request, statusCode: 429)
            }
        )
        let provider = Provider<Ask>(
            transport: transport,
            plugins: [
                .exchange { request, _, send in
                    do {
                        let response = try await send(request)
                        seen.withLock { $0.append("\(response.statusCode)") }
                        return response
                    } catch {
                        seen.withLock { $0.append("\(type(of: error))") }
                        throw error
                    }
                }
            ]
        )
        let call = Task { try await provider.request(Ask()) }
        await #expect(throws: CancellationError.self) { try await call.value }
        #expect(seen.withLock { $0 } == ["CancellationError"])
    }
}
