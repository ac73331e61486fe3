import Pipeline
import PipelineAPI
import PipelineTesting
import TestSupport
import Testing

@Suite("C16 addCustomError", .watched)
struct APIRequestErrorTextsTests {
    private typealias Request = APIRequest<IgnoredBody>

    /// Returns the texts for 404, 410, 409, an idle timeout, no network, and an unknown host.
    private func texts(_ request: Request) async -> [String?] {
        let bench = APIBench(
            .status(404),
            .status(410),
            .status(409),
            .failure(.timeout(.idle)),
            .failure(.offline),
            .failure(.dns)
        )
        var texts: [String?] = []
        for _ in 0..<6 { texts.append(await pipelineError { _ = try await bench.api.send(request) }?.customText) }
        return texts
    }

    @Test("A text applies to its status, or to its code and the details of that code")
    func single() async {
        let request = Request("x").addCustomError(.notFound, "gone").addCustomError(.timeout, "slow")
        #expect(await texts(request) == ["gone", nil, nil, "slow", nil, nil])
    }

    @Test("Texts for several statuses and codes are combined, and the last text for each wins")
    func several() async {
        let request = Request("x").addCustomError(.notFound, "a").addCustomError(.timeout, "b")
            .addCustomError(.gone, "c").addCustomError(.conflict, "d").addCustomError(.offline, "e")
        #expect(await texts(request) == ["a", "c", "d", "b", "e", nil])
        let last = request.addCustomError(.notFound, "f").addCustomError(.timeout, "g")
        #expect(await texts(last) == ["f", "c", "d", "g", "e", nil])
    }

    @Test("A request's errorText closure wins over the client's texts, which apply if it returns nil")
    func ownText() async throws {
        var bench = APIBench(.status(404), .status(409))
        bench.api.options.errorTexts = .client
        let request = APIRequest<IgnoredBody>("x").options { options in
            options.errorText = { $0.statusCode == 404 ? "request 404" : nil }
        }
        var texts: [String?] = []
        for _ in 0..<2 { texts.append(await pipelineError { _ = try await bench.api.send(request) }?.customText) }
        #expect(texts == ["request 404", "client 409"])
    }
}
