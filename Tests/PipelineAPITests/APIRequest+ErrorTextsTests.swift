import HTTPTypes
import Pipeline
import PipelineAPI
import PipelineTesting
import Testing

@Suite("C16 C17 addError and addCustomError: one status or code, several with one text, several with texts")
struct APIRequestErrorTextsTests {
    private typealias Request = APIRequest<Nothing>

    /// The texts for 404, 410, 409, a timeout in its details, no network, and no such host.
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

    @Test("One status, and one code")
    func single() async {
        let request = Request("x")
        let expected = ["gone", nil, nil, "slow", nil, nil]
        #expect(await texts(request.addError(.notFound, "gone").addError(.timeout, "slow")) == expected)
        #expect(await texts(request.addCustomError(.notFound, "gone").addCustomError(.timeout, "slow")) == expected)
    }

    @Test("Several statuses with one text, and several codes with one text")
    func several() async {
        let request = Request("x")
        let expected = ["gone", "gone", nil, "later", "later", nil]
        #expect(
            await texts(request.addError([.notFound, .gone], "gone").addError([.timeout, .offline], "later"))
                == expected
        )
        #expect(
            await texts(
                request.addCustomError([.notFound, .gone], "gone").addCustomError([.timeout, .offline], "later")
            ) == expected
        )
    }

    @Test("Several statuses with texts, and several codes with texts, in one call")
    func pairs() async {
        let request = Request("x")
        let expected = ["none", "gone", nil, "slow", "offline", nil]
        #expect(
            await texts(
                request.addErrors([.notFound: "none", .gone: "gone"]).addErrors([.timeout: "slow", .offline: "offline"])
            ) == expected
        )
        #expect(
            await texts(
                request.addCustomErrors([.notFound: "none", .gone: "gone"])
                    .addCustomErrors([.timeout: "slow", .offline: "offline"])
            ) == expected
        )
    }

    @Test("The last text wins, whatever the form in which it was given, also within one call")
    func last() async {
        let request = Request("x").addErrors([.notFound: "a", .gone: "b", .conflict: "c", .notFound: "d"])
            .addCustomErrors([.timeout: "a", .offline: "b", .timeout: "c"])
        #expect(await texts(request) == ["d", "b", "c", "c", "b", nil])
        #expect(await texts(request.addError([.gone, .conflict], "e")) == ["d", "e", "e", "c", "b", nil])
        #expect(await texts(request.addCustomError(.gone, "f").addError([.timeout], "g"))[1...3] == ["f", "c", "g"])
    }

    @Test("A text that a request makes by errorText wins over the client's, which has one for every other failure")
    func ownText() async throws {
        var bench = APIBench(.status(404), .status(409))
        bench.api.errorTexts = ErrorTexts().adding("client 404", for: .notFound).adding("client 409", for: .conflict)
        let request = APIRequest<Nothing>("x").options { options in
            options.errorText = { $0.statusCode == 404 ? "request 404" : nil }
        }
        var texts: [String?] = []
        for _ in 0..<2 { texts.append(await pipelineError { _ = try await bench.api.send(request) }?.customText) }
        #expect(texts == ["request 404", "client 409"])
    }
}
