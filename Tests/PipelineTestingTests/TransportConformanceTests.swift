import Foundation
import HTTPTypes
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("TransportConformance", .timeLimit(.minutes(10)), .tags(.concurrent))
struct TransportConformanceTests {
    /// Answers from the sample response, but not without a mistake.
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

    private func checks(
        violatedBy mistake: @escaping @Sendable (inout PipelineResponse) throws -> Void
    ) async -> Set<String> {
        Set(await TransportConformance(.sampled) { Mistaken(mistake: mistake) }.run().map(\.check))
    }

    @Test("a transport without a mistake violates nothing")
    func none() async {
        #expect(await checks { _ in }.isEmpty)
    }

    @Test("a transport that loses bytes is found out")
    func lostBytes() async {
        let checks = await checks { response in response.body = .bytes(response.data.dropLast()) }
        #expect(checks.contains("the bytes of a response arrive as they are"))
        #expect(checks.contains("a streamed body is complete"))
        #expect(checks.contains("a body that goes to a file arrives whole"))
        #expect(checks.contains("50 calls at once each get their own answer"))
    }

    @Test("a transport that joins Set-Cookie is found out")
    func joinedCookies() async {
        let checks = await checks { response in
            let joined = response.headers[values: .setCookie].joined(separator: ", ")
            if !joined.isEmpty { response.headers[.setCookie] = joined }
        }
        #expect(checks == ["repeated response fields are kept"])
    }

    @Test("a transport that loses a field is found out")
    func lostField() async {
        #expect(await checks { $0.headers[.eTag] = nil } == ["header fields are kept"])
    }

    @Test("a transport that answers every status with 200 is found out")
    func alwaysOK() async {
        let checks = await checks { response in response.head.status = .ok }
        #expect(checks.contains("a status is handed over as it is"))
        #expect(checks.contains("a redirect is not followed"))
        #expect(checks.contains("a challenge is not answered"))
    }

    @Test("a transport that decodes and says nothing of it is found out")
    func unsaidDecoding() async {
        let checks = await checks { response in
            if response.headers.contains(.contentEncoding) { response.body = .bytes(Data("hello gzip".utf8)) }
        }
        #expect(checks == ["a decoded body is not said to be coded"])
    }

    @Test("a transport that throws is found out in every check")
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

    @Test("a network transport that never connects is found out, and the suite ends")
    func neverConnects() async {
        let suite = TransportConformance(patience: .milliseconds(50)) {
            ScriptedTransport(always: .hang)
        }
        #expect(await suite.run().count == suite.checkNames.count)
    }

    @Test("the names of the checks are unique, and a network is asked more")
    func names() {
        let network = TransportConformance { ScriptedTransport(always: .hang) }.checkNames
        let sampled = TransportConformance(.sampled) { ScriptedTransport(always: .hang) }.checkNames
        #expect(Set(network).count == network.count)
        #expect(Set(sampled).isStrictSubset(of: network))
    }
}
