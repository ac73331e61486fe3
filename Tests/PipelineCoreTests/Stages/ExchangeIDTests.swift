import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("Exchange identifiers", .tags(.concurrent), .watched)
struct ExchangeIDTests {
    /// Records the identifiers of exchanges.
    private final class IDs: Stage.WillSend, Stage.DidReceive {
        let begun = Mutex<[PipelineContext.ExchangeID]>([])
        let ended = Mutex<[PipelineContext.ExchangeID]>([])

        func willSend(_ request: PipelineRequest, context: PipelineContext) {
            begun.withLock { $0.append(context.exchangeID) }
        }

        func didReceive(_ result: Result<PipelineResponse, PipelineError>, context: PipelineContext) {
            ended.withLock { $0.append(context.exchangeID) }
        }
    }

    @Test("Rule 3: each exchange has its own identifier, across attempts, hops and concurrent sends")
    func identifiers() async throws {
        let ids = IDs()
        let again = PluginStack.intercept { request, _, next in
            async let first = next(request)
            async let second = next(request)
            return try await [first, second][0]
        }
        let twice = PluginStack.exchange { request, _, send in
            async let first = send(request)
            async let second = send(request)
            return try await [first, second][1]
        }
        let transport = ScriptedTransport { request, _ in
            request.path == "/end" ? .status(200) : .status(302, headers: [.location: "/end"])
        }
        _ = try await Provider<TestTarget>(transport: transport, plugins: [ids, again, twice]).request(
            TestTarget(path: "start")
        )
        let begun = ids.begun.withLock { $0 }
        #expect(begun.count == 8)
        #expect(Set(begun).count == 8)
        #expect(Set(ids.ended.withLock { $0 }) == Set(begun))
    }

    @Test("Rule 3: the second exchange of a restarted download has its own identifier", arguments: 0...2)
    func identifiersOfDownload(sendCount: Int) async throws {
        let folder = try TemporaryFolder()
        let destination = DownloadDestination.file(folder.file("done")).resumable(at: folder.file("part"))
        let target = TestTarget(task: .downloadDestination(destination), validationType: .successCodes)
        let cut = ScriptedTransport.Step.status(
            200,
            headers: [.eTag: "\"v1\""],
            body: .stream(PartialDownloadTests.broken(after: "0123"), byteCount: 10)
        )
        let refusals = [ScriptedTransport.Step](repeating: .status(416), count: max(1, sendCount))
        let transport = ScriptedTransport([cut] + refusals + [.status(200, body: "0123456789")])
        let ids = IDs()
        let sending: any PluginType = .exchange { request, _, send in
            var response = try await send(request)
            for _ in 1..<sendCount where response.statusCode == 416 { response = try await send(request) }
            return response
        }
        let plugins: [any PluginType] = [ids] + [sending].prefix(sendCount)
        let provider = Provider<TestTarget>(transport: transport, plugins: plugins)
        await #expect(throws: PipelineError.self) { try await provider.request(target) }
        ids.begun.withLock { $0 = [] }
        ids.ended.withLock { $0 = [] }
        let statuses = try await provider.request(target).exchanges.map(\.statusCode)
        #expect(statuses == [Int](repeating: 416, count: refusals.count) + [200])
        #expect(Set(ids.begun.withLock { $0 }).count == statuses.count)
        #expect(ids.ended.withLock { $0 } == ids.begun.withLock { $0 })
    }
}
