import Foundation
import Pipeline
import PipelineAPI
import PipelineTesting
import TestSupport
import Testing

@Suite("APIRequest: decoding", .tags(.concurrent), .watched)
struct APIRequestDecodingTests {
    @Test("The response of a download decodes only to IgnoredBody")
    func download() async throws {
        let folder = try TemporaryFolder()
        let bench = APIBench(ScriptedTransport(always: .status(200, body: "bytes")))
        let task = RequestTask.downloadDestination(.file(folder.file("a"), options: .removePreviousFile))
        _ = try await bench.api.send(APIRequest<IgnoredBody>("x").task(task))
        #expect(try Data(contentsOf: folder.file("a")) == Data("bytes".utf8))
        let data = await pipelineError { _ = try await bench.api.send(APIRequest<Data>("x").task(task)) }
        let text = await pipelineError { _ = try await bench.api.send(APIRequest<String>("x").task(task)) }
        let model = await pipelineError {
            _ = try await bench.api.send(APIRequest<APIRequestTests.User>("x").task(task))
        }
        #expect([data, text, model].map { $0?.code } == [.mapping(.object), .mapping(.object), .mapping(.object)])
    }

    private struct Cancelling: Decodable {
        init(from decoder: any Decoder) throws {
            withUnsafeCurrentTask { $0?.cancel() }
            throw CancellationError()
        }
    }

    @Test("A call cancelled while its response is decoded throws CancellationError")
    func cancelledDecoding() async throws {
        let bench = APIBench(ScriptedTransport(always: .ok))
        let api = bench.api
        for withResponse in [false, true] {
            let task = Task {
                let request = APIRequest<Cancelling>("x")
                if withResponse {
                    _ = try await api.send(request.withResponse)
                } else {
                    _ = try await api.send(request)
                }
            }
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }

    @Test("C41 C42 C43 C44 The result type determines how the response is read")
    func results() async throws {
        func answer<Value>(_ body: String, _ type: Value.Type) async throws -> Value where Value: Decodable & Sendable {
            try await APIBench(.status(200, body: body)).api.send(APIRequest<Value>("x"))
        }
        let precise = Decimal(sign: .plus, exponent: -9, significand: 1_234_567_890_123_456_789)
        #expect(try await answer(#"{"name":"Ann"}"#, APIRequestTests.User.self) == APIRequestTests.User(name: "Ann"))
        #expect(
            try await answer(#"[{"name":"Ann"}]"#, [APIRequestTests.User].self) == [APIRequestTests.User(name: "Ann")]
        )
        _ = try await answer("not JSON", IgnoredBody.self)
        _ = try await answer("", IgnoredBody.self)
        let empty = await pipelineError { _ = try await answer("", [APIRequestTests.User].self) }
        #expect(empty?.code.isKind(of: .mapping) == true)
        #expect(try await answer("bytes", Data.self) == Data("bytes".utf8))
        #expect(try await answer("a text", String.self) == "a text")
        #expect(try await answer("42\n", Int.self) == 42)
        #expect(try await answer("18446744073709551615", UInt64.self) == .max)
        #expect(try await answer("1.5", Double.self) == 1.5)
        #expect(try await answer("0.1", Decimal.self) == Decimal(string: "0.1"))
        #expect(try await answer("true", Bool.self))
        #expect(try await !answer("0", Bool.self))
        #expect(try await answer("2", Bool.self))
        #expect(try await answer("1.5\n", Float.self) == 1.5)
        #expect(try await answer("1234567890.123456789", Decimal.self) == precise)
    }

    @Test(
        "C44 A decoding failure is an error that carries the response, and the next call works",
        arguments: [
            "", "nonsense", #"{"name":1}"#,
        ]
    )
    func undecodable(body: String) async throws {
        let wrong = ScriptedTransport.Step.status(200, body: body)
        let bench = APIBench(wrong, wrong, wrong, .status(200, body: #"{"name":"Ann"}"#))
        let request = APIRequest<APIRequestTests.User>("x").addCustomError(.mapping, "odd answer")
        let error = await pipelineError { _ = try await bench.api.send(request) }
        #expect(error?.code == .mapping(.object) && error?.response?.data == Data(body.utf8))
        #expect(error?.customText == "odd answer")
        let direct = request.serverURL(ServerURL(base: "https://example.com"))
        let thrown = await pipelineError { _ = try await bench.api.provider.requestDecoded(direct) }
        #expect(thrown?.customText == "odd answer")
        let number = await pipelineError { _ = try await bench.api.send(APIRequest<Int>("x")) }
        #expect(number?.code == .mapping(.object))
        #expect(try await bench.api.send(request) == APIRequestTests.User(name: "Ann"))
    }

    @Test("A value of any type at a key path is read from the JSON, with the given decoder")
    func keyPath() async throws {
        let body = #"{"user":{"name":"Ann","at":7}}"#
        let provider = Provider<MultiTarget>(transport: ScriptedTransport(always: .status(200, body: body)))
        let server = ServerURL(base: "https://example.com")
        let name = try await provider.requestDecoded(APIRequest<String>("x").serverURL(server), atKeyPath: "user.name")
        #expect(name == "Ann")
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .secondsSince1970
        let date = try await provider.requestDecoded(
            APIRequest<Date>("x").serverURL(server),
            atKeyPath: "user.at",
            decoder: decoder
        )
        #expect(date == Date(timeIntervalSince1970: 7))
    }
}
