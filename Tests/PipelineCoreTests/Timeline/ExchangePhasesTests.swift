import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("The phases of an exchange", .watched)
struct ExchangePhasesTests {
    private let clock = ManualClock()

    private func timeline(_ transport: some Transport) async throws -> Timeline {
        let provider = Provider<URLTarget>(transport: transport, configuration: .init(clock: clock, timeline: true))
        let response = try await provider.request(URLTarget("https://a.test"))
        return try #require(response.timeline)
    }

    private func phases(_ timeline: Timeline) -> [String] {
        timeline.spans.filter { $0.kind == .phase }.map {
            "\($0.name) \($0.start / .seconds(1)) \($0.duration / .seconds(1))"
        }
    }

    @Test("What a transport reports becomes spans inside the exchange")
    func reported() async throws {
        let clock = clock
        let transport = ScriptedTransport([
            .answer { request, context in
                context.report(.connectionAwaited)
                clock.advance(by: .seconds(1))
                context.report(.connection())
                clock.advance(by: .seconds(2))
                context.report(.phases { $0.requestSent = context.clock.now })
                clock.advance(by: .seconds(4))
                context.report(.phases { $0.responseBegan = context.clock.now })
                clock.advance(by: .seconds(8))
                return PipelineResponse(request: request, statusCode: 200)
            }
        ])
        let timeline = try await timeline(transport)
        #expect(phases(timeline) == ["connection 0.0 1.0", "send 1.0 2.0", "wait 3.0 4.0", "receive 7.0 8.0"])
        let wire = timeline.spans.first { $0.kind == .wire }
        #expect(timeline.spans.filter { $0.kind == .phase }.allSatisfy { $0.parentID == wire?.id })
    }

    @Test("Without reports, the head of a stream separates waiting from receiving, and bytes have no phases")
    func unreported() async throws {
        let clock = clock
        let pieces = AsyncStream<Data> {
            clock.advance(by: .seconds(2))
            return nil
        }
        let transport = ScriptedTransport([
            .delayed(.seconds(1), .status(200, body: .stream(pieces))), .status(200, body: "x"),
        ])
        let pump = Task { try await clock.advanceToNextSleeper() }
        #expect(phases(try await timeline(transport)) == ["wait 0.0 1.0", "receive 1.0 2.0"])
        _ = try await pump.value
        #expect(phases(try await timeline(transport)).isEmpty)
    }

    @Test("An exchange that never got a connection has only the wait for it")
    func unconnected() async throws {
        let clock = clock
        let transport = ScriptedTransport([
            .answer { _, context in
                context.report(.connectionAwaited)
                clock.advance(by: .seconds(3))
                throw PipelineError(.connect(.refused), "refused")
            }
        ])
        let error = await #expect(throws: PipelineError.self) { _ = try await self.timeline(transport) }
        let timeline = try #require(error?.timeline)
        #expect(phases(timeline) == ["connection 0.0 3.0"])
    }

    @Test("An exchange that gets no response has the wait for it")
    func unanswered() async throws {
        let clock = clock
        let transport = ScriptedTransport([
            .answer { _, context in
                context.report(.connectionAwaited)
                context.report(.connection())
                context.report(.phases { $0.requestSent = context.clock.now })
                clock.advance(by: .seconds(3))
                throw PipelineError(.connectionLost, "lost")
            }
        ])
        let error = await #expect(throws: PipelineError.self) { _ = try await self.timeline(transport) }
        let timeline = try #require(error?.timeline)
        #expect(phases(timeline) == ["connection 0.0 0.0", "send 0.0 0.0", "wait 0.0 3.0"])
    }

    @Test("The first report of the response counts, and the last one of the request")
    func reports() async throws {
        let clock = clock
        let transport = ScriptedTransport([
            .answer { request, context in
                context.report(.connection(at: context.clock.now.advanced(by: .seconds(1))))
                clock.advance(by: .seconds(1))
                for _ in 1...2 {
                    clock.advance(by: .seconds(1))
                    context.report(.phases { $0.requestSent = context.clock.now })
                }
                for _ in 1...2 {
                    clock.advance(by: .seconds(1))
                    context.report(.phases { $0.responseBegan = context.clock.now })
                }
                return PipelineResponse(request: request, statusCode: 200)
            }
        ])
        #expect(phases(try await timeline(transport)) == ["send 0.0 3.0", "wait 3.0 1.0", "receive 4.0 1.0"])
    }

    @Test("The facts of a connection become part of the exchange, without a timeline, too")
    func connection() async throws {
        let facts = PipelineExchange.Connection(
            protocolVersion: "2",
            peerAddress: "192.0.2.1",
            peerPort: 443,
            isReused: true
        )
        let transport = ScriptedTransport([
            .answer { request, context in
                #expect(!context.observesPhases)
                context.report(.connectionAwaited)
                context.report(.connection(facts))
                return PipelineResponse(request: request, statusCode: 200)
            }
        ])
        let response = try await Provider<URLTarget>(transport: transport).request(URLTarget("https://a.test"))
        #expect(response.exchanges.map(\.connection) == [facts])
    }

    @Test("A transport around another one sees what that one reports")
    func wrapped() async throws {
        let seen = Mutex<[PipelineExchange.Phases]>([])
        let clock = clock
        let transport = ScriptedTransport([
            .answer { request, context in
                let (inner, phases) = context.observingPhases()
                #expect(inner.observesPhases)
                clock.advance(by: .seconds(1))
                inner.report(.phases { $0.requestSent = inner.clock.now })
                inner.report(.connection(PipelineExchange.Connection(peerPort: 80)))
                seen.withLock { $0.append(phases()) }
                return PipelineResponse(request: request, statusCode: 200)
            }
        ])
        let provider = Provider<URLTarget>(transport: transport, configuration: .init(clock: clock))
        let start = PipelineClock(clock).now
        _ = try await provider.request(URLTarget("https://a.test"))
        #expect(seen.withLock { $0.map(\.requestSent) } == [start.advanced(by: .seconds(1))])
        #expect(seen.withLock { $0.map(\.connection?.peerPort) } == [80])
    }
}
