import Foundation
import Pipeline
import PipelineAPI
import PipelineTesting
import TestSupport
import Testing

@Suite("ErrorTexts", .tags(.concurrent), .watched)
struct ErrorTextsTests {
    @Test("A text for a code also applies to its details, and a text for a detail wins")
    func codeTexts() async throws {
        var bench = APIBench(.failure(.timeout(.attempt)), .failure(.timeout(.idle)), .failure(.offline))
        bench.api.options.errorTexts.set("client", for: .timeout)
        let request = APIRequest<IgnoredBody>("x").addCustomError(.timeout, "slow").addCustomError(
            .timeout(.idle),
            "idle"
        )
        var texts: [String?] = []
        for _ in 0..<3 { texts.append(await pipelineError { _ = try await bench.api.send(request) }?.customText) }
        #expect(texts == ["slow", "idle", nil])
    }

    @Test("A status text wins over a code text, and applies only to responses that were not accepted")
    func statusTexts() async throws {
        let bench = APIBench(.status(404), .status(410), .ok)
        let request = APIRequest<APIRequestTests.User>("x").addCustomError(.notFound, "status").addCustomError(
            .unacceptableStatus,
            "code"
        )
        .addCustomError(.ok, "accepted")
        var texts: [String?] = []
        for _ in 0..<3 { texts.append(await pipelineError { _ = try await bench.api.send(request) }?.customText) }
        #expect(texts == ["status", "code", nil])
    }
}
