import Dispatch
import Pipeline
import PipelineAPI
import PipelineTesting
import TestSupport
import Testing

@Suite("Where operations run, and how they end", .tags(.concurrent), .watched)
struct APIOperationTests {
    private static let key = DispatchSpecificKey<Bool>()

    private struct Place: Decodable {
        let isMain: Bool

        init() { isMain = DispatchQueue.getSpecific(key: key) ?? false }

        init(from decoder: any Decoder) throws { self.init() }
    }

    init() { DispatchQueue.main.setSpecific(key: Self.key, value: true) }

    @Test("An operation decodes off the caller's actor, even if it is run directly")
    @MainActor
    func decodingPlace() async throws {
        #expect(Place().isMain)
        let bench = APIBench(ScriptedTransport(always: .status(200, body: "{}")))
        let request = APIRequest<Place>("x")
        #expect(try await !request.run(in: bench.api, observer: APIObserver()).get().isMain)
        #expect(try await !request.withResponse.run(in: bench.api, observer: APIObserver()).get().body.isMain)
        #expect(try await !bench.api.send(request).isMain)
    }

    private struct Cancelling: Decodable {
        init(from decoder: any Decoder) throws {
            withUnsafeCurrentTask { $0?.cancel() }
            throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "none"))
        }
    }

    @Test("A provider's call cancelled while its response is decoded throws CancellationError")
    func cancelledDecoding() async throws {
        let transport = ScriptedTransport(always: .status(200, body: "{}"))
        let request = APIRequest<Cancelling>("x").serverURL(ServerURL(base: "https://a.test"))
        let any = Provider<MultiTarget>(transport: transport)
        let own = Provider<APIRequest<Cancelling>>(transport: transport)
        let tasks = [
            Task { _ = try await any.requestDecoded(request) }, Task { _ = try await own.requestDecoded(request) },
        ]
        for task in tasks { await #expect(throws: CancellationError.self) { try await task.value } }
    }
}
