import Foundation
import Pipeline
import TestSupport
import Testing

@testable import PipelineTesting

@Suite("TransportConformance", .tags(.concurrent), .realTime, .watched)
struct TransportConformanceTests {
    /// Responds with the sample response, after a mistake has changed it.
    private struct Mistaken: Transport {
        let decodesContent = false
        var mistake: @Sendable (inout PipelineResponse) throws -> Void

        func send(_ request: PipelineRequest, context: PipelineContext) async throws -> PipelineResponse {
            guard case .response(let head, let data) = context.endpoint.sampleResponse?().kind else {
                throw PipelineError(.transport, "no sample")
            }
            var response = PipelineResponse(request: request, head: head, body: .bytes(data))
            try mistake(&response)
            return response
        }
    }

    static func checks(
        violatedBy mistake: @escaping @Sendable (inout PipelineResponse) throws -> Void
    ) async -> Set<String> {
        Set(await TransportConformance(.sampled) { Mistaken(mistake: mistake) }.run().map(\.check))
    }

    @Test("a transport without a mistake violates no check")
    func none() async {
        #expect(await Self.checks { _ in }.isEmpty)
    }

    @Test("a transport that always throws violates every check except the cancellation check")
    func throwing() async {
        let suite = TransportConformance(.sampled) {
            Mistaken { _ in throw PipelineError(.offline, "by mistake") }
        }
        let violated = await suite.run().map(\.check)
        #expect(
            Set(violated).isSuperset(
                of: Set(suite.checkNames).subtracting(["a cancelled call ends in CancellationError"])
            )
        )
    }

    @Test("a network transport that never connects violates every check, and the suite ends")
    func neverConnects() async {
        let suite = TransportConformance(patience: .milliseconds(50)) {
            ScriptedTransport(always: .hang)
        }
        #expect(await suite.run().count == suite.checkNames.count)
    }

    /// Waits without end and ignores its cancellation.
    private struct Deaf: Transport {
        let decodesContent = false

        func send(_ request: PipelineRequest, context: PipelineContext) async throws -> PipelineResponse {
            await withUnsafeContinuation { (_: UnsafeContinuation<PipelineResponse, Never>) in }
        }
    }

    @Test("B: a transport that ignores cancellation, and so holds up every timeout, is reported, and the suite ends")
    func ignoresCancellation() async {
        let check = "a cancelled call ends in CancellationError"
        let deaf = TransportConformance(.sampled, patience: .milliseconds(50)) { Deaf() }
        #expect(await deaf.run().contains { $0.check == check && $0.message.contains("as its task is cancelled") })
    }

    @Test("the names of the checks are unique, and a network transport has more checks")
    func names() {
        let network = TransportConformance { ScriptedTransport(always: .hang) }.checkNames
        let sampled = TransportConformance(.sampled) { ScriptedTransport(always: .hang) }.checkNames
        #expect(Set(network).count == network.count)
        #expect(Set(sampled).isStrictSubset(of: network))
    }
}
