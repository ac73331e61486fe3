import Foundation
import Pipeline
import PipelineAPI
import PipelineTesting
import TestSupport
import Testing

@Suite("PlainResult", .tags(.concurrent), .watched)
struct PlainResultTests {
    @Test("An optional result is nil for an empty body, and its value otherwise")
    func optionalResults() async throws {
        let bench = APIBench(
            .status(204),
            .status(200, body: #"{"name":"Ann"}"#),
            .status(200, body: "null"),
            .status(204)
        )
        let request = APIRequest<APIRequestTests.User?>("x").desiredStatusCode(.ok, .noContent)
        #expect(try await bench.api.send(request) == nil)
        #expect(try await bench.api.send(request) == APIRequestTests.User(name: "Ann"))
        #expect(try await bench.api.send(request) == nil)
        #expect(try await bench.api.send(APIRequest<Int?>("x").desiredStatusCode(.noContent)) == nil)
        let text = APIBench(ScriptedTransport(always: .status(200, body: "1"))).api
        #expect(try await text.send(APIRequest<Data?>("x")) == Data("1".utf8))
        #expect(try await text.send(APIRequest<String?>("x")) == "1")
        #expect(try await text.send(APIRequest<Bool?>("x")) == true)
        #expect(try await text.send(APIRequest<Int?>("x")) == 1)
        #expect(try await text.send(APIRequest<IgnoredBody?>("x")) != nil)
        let null = APIBench(ScriptedTransport(always: .status(200, body: "null\n"))).api
        #expect(try await null.send(APIRequest<Data?>("x")) == Data("null\n".utf8))
        #expect(try await null.send(APIRequest<String?>("x")) == nil)
        #expect(try await null.send(APIRequest<Int?>("x")) == nil)
        let direct = APIRequest<APIRequestTests.User?>("x").serverURL(ServerURL(base: "https://example.com"))
        let empty = Provider<MultiTarget>(transport: ScriptedTransport(always: .status(200)))
        let error = await pipelineError { _ = try await empty.requestDecoded(direct, atKeyPath: "user") }
        #expect(error?.code.isKind(of: .mapping) == true)
    }

    @Test("Only decimal numbers decode to a number", arguments: ["nan", "inf", "0x10", "1e999", "1_000", "", "1.5.2"])
    func numbers(body: String) async throws {
        let bench = APIBench(ScriptedTransport(always: .status(200, body: body)))
        func fails<Value: Decodable & Sendable>(_ type: Value.Type) async -> Bool {
            await pipelineError { _ = try await bench.api.send(APIRequest<Value>("x")) }?.code == .mapping(.object)
        }
        #expect(await fails(Double.self))
        #expect(await fails(Decimal.self))
        #expect(await fails(Int?.self) != body.isEmpty)
        #expect(await fails(Float.self))
        #expect(await fails(Int.self))
    }

    @Test("A number that overflows its type to infinity fails to decode")
    func infiniteFloat() async throws {
        let bench = APIBench(ScriptedTransport(always: .status(200, body: "1e39")))
        #expect(try await bench.api.send(APIRequest<Double>("x")) == 1e39)
        let error = await pipelineError { _ = try await bench.api.send(APIRequest<Float>("x")) }
        #expect(error?.code == .mapping(.object))
    }
}
