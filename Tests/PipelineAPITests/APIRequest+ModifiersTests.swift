import Foundation
import Pipeline
import PipelineAPI
import PipelineTesting
import TestSupport
import Testing

@Suite("APIRequest: modifiers", .tags(.concurrent), .watched)
struct APIRequestModifiersTests {
    @Test(
        "C11 C64 B-C14 B-C15 A query keeps its order, follows the endpoint's own and replaces an earlier one"
    )
    func query() async throws {
        let bench = APIBench(ScriptedTransport(always: .ok))
        let request = APIRequest<IgnoredBody>("post").query(APIRequestTests.ListQuery())
        _ = try await bench.api.send(request)
        _ = try await bench.api.send(
            APIRequest<IgnoredBody>("post?a=1").query(APIRequestTests.ListQuery()).query(["q": "a&b=c+d"])
        )
        #expect(bench.paths == ["post?offset=0&limit=100", "post?a=1&q=a%26b%3Dc%2Bd"])
    }

    @Test(
        "C9 C12 A request sends its method and header fields; addHeaders merges names case-insensitively"
    )
    func methodAndHeaders() async throws {
        let bench = APIBench(ScriptedTransport(always: .ok))
        let request = APIRequest<IgnoredBody>("x").method(.patch).addHeaders(["x-a": "1", "X-B": "2"]).addHeaders([
            "X-A": "3"
        ])
        _ = try await bench.api.send(request)
        let sent = try #require(bench.transport.sent.first)
        #expect(sent.method == .patch)
        #expect(sent.headers[values: try #require(HTTPField.Name("X-A"))] == ["3"])
        #expect(sent.headers[try #require(HTTPField.Name("X-B"))] == "2")
        _ = try await bench.api.send(request.addHeaders(["x-a": "5", "X-a": "4"]))
        #expect(bench.transport.sent.last?.headers[try #require(HTTPField.Name("X-A"))] == "5")
    }

    @Test("A path template is shown to plugins and not sent")
    func pathTemplate() async throws {
        let bench = APIBench(ScriptedTransport(always: .ok))
        let request = APIRequest<IgnoredBody>("users", "7").pathTemplate("/users/{id}")
        #expect(request.pathTemplate == "/users/{id}")
        #expect(APIRequest<IgnoredBody>("users", "7").pathTemplate == nil)
        _ = try await bench.api.send(request)
        #expect(bench.paths == ["users/7"])
    }

    @Test("Each modifier returns a copy and leaves the original request unchanged")
    func values() async throws {
        let bench = APIBench(ScriptedTransport(always: .ok))
        let request = APIRequest<IgnoredBody>("x")
        _ = request.method(.put).query(APIRequestTests.ListQuery()).addHeaders(["X-A": "1"]).bearer("t")
        _ = try await bench.api.send(request)
        let sent = try #require(bench.transport.sent.first)
        #expect(sent.method == .get && bench.paths == ["x"] && sent.headers.isEmpty)
    }

    @Test(
        "C15 C74 200 to 299 are successes, unless other statuses are desired, with or without a name",
        arguments: [200, 201, 204, 404, 777]
    )
    func status(code: Int) async throws {
        let bench = APIBench(ScriptedTransport(always: .status(code)))
        let request = APIRequest<IgnoredBody>("x")
        let error = await pipelineError { _ = try await bench.api.send(request) }
        let isSuccess = (200..<300).contains(code)
        #expect(error?.code == (isSuccess ? nil : .unacceptableStatus))
        #expect(error?.response?.statusCode == (isSuccess ? nil : code))
        let wanted = request.desiredStatusCode(.created, .noContent, 777)
        let second = await pipelineError { _ = try await bench.api.send(wanted) }
        #expect((second == nil) == [201, 204, 777].contains(code))
        _ = try await bench.api.send(request.validation(.anyStatus))
        let range = await pipelineError { _ = try await bench.api.send(request.validation(.successCodes)) }
        #expect((range == nil) == [200, 201, 204].contains(code))
    }

    @Test("C19 B-C12 attemptTimeout ends a call that takes longer, whatever its payload")
    func attemptTimeout() async throws {
        let bench = APIBench(ScriptedTransport(always: .delayed(.seconds(30), .ok)))
        let request = APIRequest<IgnoredBody>("x").method(.post).attemptTimeout(.seconds(5))
        let file = request.payload(PayloadTests.Post(text: "t"))
        for request in [request, file] {
            async let error = pipelineError { _ = try await bench.api.send(request) }
            try await bench.clock.waitForSleepers(2)
            bench.clock.advance(by: .seconds(5))
            #expect(await error?.code == .timeout(.attempt))
        }
    }

    @Test("A stub without a sample responds with the request's sampleData")
    func sampleData() async throws {
        let api = APIClient(
            Provider<MultiTarget>(transport: StubTransport()),
            server: ServerURL(base: "https://example.com")
        )
        let request = APIRequest<APIRequestTests.User>("x").sampleData(Data(#"{"name":"Ann"}"#.utf8))
        #expect(try await api.send(request) == APIRequestTests.User(name: "Ann"))
        #expect(try await api.send(request.desiredStatusCode(.created).withResponse).response.statusCode == 201)
        let empty = APIRequest<IgnoredBody>("x").desiredStatusCode(.noContent)
        #expect(try await api.send(empty.withResponse).response.statusCode == 204)
    }
}
