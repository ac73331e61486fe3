import Foundation
import Pipeline
import PipelineAPI
import PipelineTesting
import TestSupport
import Testing

@Suite("APIRequest: bugs that must not recur", .watched)
struct APIRequestFaultTests {
    @Test("B-C22 A request is sent to any server URL, with port and path, without a reachability check")
    func noPreflight() async throws {
        let bench = APIBench(ScriptedTransport([.failure(.offline), .ok]), server: "http://127.0.0.1:8080/v1/")
        #expect(await pipelineError { _ = try await bench.api.send(APIRequest<IgnoredBody>("x")) }?.code == .offline)
        _ = try await bench.api.send(APIRequest<IgnoredBody>("x"))
        #expect(
            bench.transport.sent.map(\.url?.absoluteString) == Array(repeating: "http://127.0.0.1:8080/v1/x", count: 2)
        )
    }

    @Test(
        "B-C26 A status matches by its registered name, or by its number if it has no name",
        arguments: [
            (HTTPResponse.Status.tooEarly, 425), (.networkAuthenticationRequired, 511), (510, 510),
            (.misdirectedRequest, 421), (509, 509),
        ]
    )
    func statusNames(status: HTTPResponse.Status, code: Int) async throws {
        let bench = APIBench(ScriptedTransport(always: .status(code)))
        let request = APIRequest<IgnoredBody>("x")
        let error = await pipelineError { _ = try await bench.api.send(request.addCustomError(status, "text")) }
        #expect(error?.response?.statusCode == code && error?.customText == "text")
        _ = try await bench.api.send(request.desiredStatusCode(status))
    }

    @Test("A call's error texts win over its target's if decoding fails, whatever the type of the target")
    func textsOfCall() async throws {
        struct Ask: DecodableTargetType {
            typealias ResultType = Int
            let path = "/b"
            let method = HTTPMethod.get
            let task = RequestTask.requestPlain
            var baseURL: URL { URL(string: "https://example.com") ?? URL(filePath: "/") }
            var options: RequestOptions { .init { $0.errorTexts.set("target", for: .mapping) } }
        }
        let transport = ScriptedTransport(always: .status(200, body: "{}"))
        let provider = Provider<MultiTarget>(transport: transport)
        let options = RequestOptions { $0.errorTexts.set("call", for: .mapping) }
        let request = APIRequest<Int>("x").serverURL(ServerURL(base: "https://example.com")).addCustomError(
            .mapping,
            "own"
        )
        let own = Provider<Ask>(transport: transport)
        for (options, texts) in [
            (options, ["call", "call", "call", "call"]), (.init(), ["own", "target", "target", "target"]),
        ] {
            let errors = [
                await pipelineError { _ = try await provider.requestDecoded(request, options: options) },
                await pipelineError { _ = try await provider.requestDecoded(Ask(), options: options) },
                await pipelineError { _ = try await own.requestDecoded(Ask(), options: options) },
                await pipelineError { _ = try await own.request(Ask(), as: Int.self, options: options) },
            ]
            #expect(errors.map(\.?.customText) == texts)
            #expect(errors.allSatisfy { $0?.code == .mapping(.object) })
        }
        let shown = [
            await pipelineError { _ = try await own.request(Ask(), as: Int.self, options: options) },
            await pipelineError { _ = try await provider.requestDecoded(request) },
        ]
        #expect(shown.map(\.?.localizedDescription) == ["call", "own"])
    }

    @Test("B-C27 A stubbed call runs handlers, responses and chains, and reports a 401 only if the stub does")
    func stubbed() async throws {
        let journal = Journal()
        let provider = Provider<MultiTarget>(transport: StubTransport())
        let api = APIClient(provider, server: ServerURL(base: "https://example.com"))
        let one = APIRequest<Int>("x").sampleData(Data("1".utf8))
        await api.call(one.withResponse).onSuccess { journal.add("\($0.body) \($0.response.statusCode)") }.finished()
        await api.call(one.and(one)).onSuccess { journal.add("\($0 + $1)") }.finished()
        await api.call(APIRequest<Int>("x")).onNotAuthorized { journal.add("401") }
            .onError { journal.add("\($0.code)") }.finished()
        #expect(journal.entries == ["1 200", "2", "mapping.object"])
    }
}
