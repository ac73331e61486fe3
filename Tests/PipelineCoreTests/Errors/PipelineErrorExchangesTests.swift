import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("The exchanges in an error's description", .watched)
struct PipelineErrorExchangesTests {
    /// The error of a call whose interceptor sends once per step and returns the last result.
    private static func error(
        _ steps: [ScriptedTransport.Step],
        refusal: PipelineExchange.RetryRefusal? = nil
    ) async throws -> PipelineError? {
        let again = PluginStack.intercept { request, context, next in
            var result = Result<PipelineResponse, PipelineError>.failure(PipelineError(.plugin, "none"))
            for _ in steps {
                do {
                    result = .success(try await next(request))
                } catch let error as PipelineError {
                    result = .failure(error)
                }
            }
            if let refusal { context.noteRefusedRetry(refusal, of: &result) }
            return try result.get()
        }
        let provider = Provider<SampleTarget>(transport: ScriptedTransport(steps), plugins: [again])
        let target = try SampleTarget("https://example.com/?CANARY") { $0.validationType = .successCodes }
        return await #expect(throws: PipelineError.self) { try await provider.request(target) }
    }

    @Test("One exchange is not listed, and several are listed by their outcomes")
    func outcomes() async throws {
        let one = try await Self.error([.failure(.dns)])
        #expect(one?.description == "dns: by script; GET example.com/path; target SampleTarget")
        let three = try await Self.error([.status(503), .status(200), .failure(.timeout(.idle))])
        #expect(
            three?.description
                == "timeout.idle: by script; GET example.com/path; target SampleTarget; exchanges: 503, 200, timeout.idle"
        )
        let status = try await Self.error([.failure(.connectionLost), .status(500)])
        #expect(
            status?.description
                == "unacceptableStatus: got 500, expected 200…299; "
                + "GET example.com/path; target SampleTarget; "
                + "exchanges: connectionLost, 500"
        )
    }

    @Test("Only the last ten exchanges are shown, with the total number")
    func many() async throws {
        let ten = try await Self.error(Array(repeating: .failure(.dns), count: 10))
        #expect(
            ten?.description.hasSuffix("; exchanges: " + Array(repeating: "dns", count: 10).joined(separator: ", "))
                == true
        )
        let steps = [ScriptedTransport.Step.status(503)] + Array(repeating: .failure(.dns), count: 24)
        let description = try await Self.error(steps)?.description
        let list = Array(repeating: "dns", count: 10).joined(separator: ", ")
        #expect(
            description?.hasSuffix("; GET example.com/path; target SampleTarget; 25 exchanges, the last: \(list)")
                == true
        )
    }

    @Test("The description and the last exchange give the reason why a retry was refused")
    func refusal() async throws {
        for steps in [[ScriptedTransport.Step.failure(.dns)], [.status(500)], [.status(503), .status(500)]] {
            let error = try await Self.error(steps, refusal: .budget)
            let outcome = steps.count > 1 ? "gave up after 2 attempts" : "not retried"
            #expect(error?.description.hasSuffix("; \(outcome): budget") == true)
            #expect(error?.exchanges.last?.refusedRetry == .budget)
            #expect(error?.exchanges.count { $0.refusedRetry != nil } == 1)
        }
        #expect(try await Self.error([.status(500)])?.exchanges.last?.refusedRetry == nil)
    }

    @Test("A refused retry is ignored if there is no exchange")
    func refusalOfNothing() async throws {
        let error = try await Self.error([], refusal: .deadline)
        #expect(error?.exchanges.isEmpty == true)
        #expect(error?.description.hasSuffix("target SampleTarget") == true, "\(error?.description ?? "")")
    }
}
