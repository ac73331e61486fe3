import Dispatch
import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("Exchanges of a call", .tags(.concurrent), .watched)
struct CallStateTests {
    @Test("A response or an error has exactly the exchanges of its call, whatever a plugin returns")
    func exchangesOfTheCall() async throws {
        let kept = Mutex<PipelineResponse?>(nil)
        let transport = ScriptedTransport([.status(500), .status(200), .failure(.dns), .failure(.offline)])
        let provider = Provider<TestTarget>(
            transport: transport,
            plugins: [
                .intercept { request, _, next in
                    if var hit = kept.withLock({ $0 }) {
                        hit.request = request
                        return hit
                    }
                    let first = try await next(request)
                    _ = try await next(request)
                    kept.withLock { $0 = first }
                    return first
                }
            ]
        )
        #expect(try await provider.request(TestTarget()).exchanges.map(\.statusCode) == [500, 200])
        #expect(try await provider.request(TestTarget()).exchanges.isEmpty)

        let failing = Provider<TestTarget>(
            transport: transport,
            plugins: [
                .intercept { request, _, next in
                    do {
                        return try await next(request)
                    } catch {
                        _ = try? await next(request)
                        throw error
                    }
                }
            ]
        )
        let error = await pipelineError { _ = try await failing.request(TestTarget()) }
        #expect(error?.code == .dns)
        #expect(error?.exchanges.map(\.failure) == [.dns, .offline])
    }
}
