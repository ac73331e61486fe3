import Foundation
import HTTPTypes
import Pipeline
import PipelineAPI
import PipelineTesting
import PipelineTransports
import TestSupport
import Testing

@Suite("ErrorTexts", .tags(.concurrent))
struct ErrorTextsTests {
    @Test("A text for a code is that of its details too, and the text of a detail wins")
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

    @Test("The text of a status wins over that of the code, and is for answers alone that were not accepted")
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
