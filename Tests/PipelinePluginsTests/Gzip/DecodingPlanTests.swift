import Dispatch
import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("GzipPlugin: limits of bodies in memory", .tags(.concurrent), .watched)
struct DecodingPlanTests {
    @Test("Z05: a body in memory may have exactly the allowed byte count", arguments: [0, 1, 5_000, 70_000, 300_000])
    func decodedByteCount(limit: Int) async throws {
        for (count, isAllowed) in [(limit, true), (limit + 1, false)] where count > 0 {
            let body = GzipBytes.gzip(GzipBytes.json(count))
            let own = CodedAnswer(body: body, plugins: [GzipPlugin(limits: .init(decodedByteCount: limit))])
            #expect(try await own.code(.memory) == (isAllowed ? nil : .limit(.decodedBytes)))
            #expect(try await own.code(.blocks) == nil)
            guard body.count <= limit else { continue }
            let provider = CodedAnswer(body: body, limits: .init(bufferedBodyByteCount: limit))
            #expect(try await provider.code(.memory) == (isAllowed ? nil : .limit(.decodedBytes)))
        }
    }

    @Test("Z05: a body may expand by exactly the allowed ratio", arguments: [Serving.memory, .blocks])
    func ratio(serving: Serving) async throws {
        let body = GzipBytes.gzip(Data(count: 3 << 20))
        let exact = (3 << 20) / body.count
        for (ratio, code) in [(exact + 30, nil), (exact - 30, PipelineError.Code.limit(.decodedBytes))] {
            let answer = CodedAnswer(body: body, plugins: [GzipPlugin(limits: .init(ratio: ratio))])
            #expect(try await answer.code(serving) == code)
        }
        let below = GzipBytes.gzip(Data(count: 1 << 20))
        #expect(try await CodedAnswer(body: below).code(serving) == nil)
        let above = GzipBytes.gzip(Data(count: (1 << 20) + 1))
        #expect(try await CodedAnswer(body: above).code(serving) == .limit(.decodedBytes))
        let early = CodedAnswer(body: below, plugins: [GzipPlugin(limits: .init(ratioFreeByteCount: 1 << 16))])
        #expect(try await early.code(serving) == .limit(.decodedBytes))
    }

    @Test("Z05: a bomb in memory, alone or nested, is not decoded past the limits")
    func bombInMemory() async throws {
        var bomb = GzipBytes.bombHead
        for _ in 0..<1_024 { bomb += GzipBytes.bombBlock }
        #expect(bomb.count < 1_200_000)
        #expect(try await CodedAnswer(body: bomb).code(.memory) == .limit(.decodedBytes))
        #expect(try await CodedAnswer(body: bomb).code(.blocks) == .limit(.decodedBytes))
        let nested = GzipBytes.gzip(GzipBytes.gzip(bomb))
        #expect(nested.count < 20_000)
        let answer = CodedAnswer(body: nested, coding: "gzip, gzip, gzip")
        #expect(try await answer.code(.memory) == .limit(.decodedBytes))
        #expect(try await answer.code(.blocks) == .limit(.decodedBytes))
    }

    @Test("A cancelled call ends before its body is decoded or compressed")
    func cancelledInMemory() async throws {
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            let transport = GzipPluginLimitsTests.answer(.bytes(GzipBytes.gzip(Data(count: 1_000))))
            return try await Provider<Ask>(transport: transport, plugins: [GzipPlugin()]).request(Ask())
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
