import Foundation
import Pipeline
import PipelineAPI
import PipelineTesting
import TestSupport
import Testing

@Suite("ProviderConfiguration.Coders", .watched)
struct PipelineCodersTests {
    private let bench = APIBench(ScriptedTransport(always: .ok))

    private func send(_ request: APIRequest<IgnoredBody>) async throws -> PipelineRequest {
        _ = try await bench.api.send(request.method(.post))
        return try #require(bench.transport.sent.last)
    }

    @Test("ofCoder leaves dates to the client's coders")
    func ofCoder() async throws {
        struct Moment: Codable, JSONPayload { var at: Date }
        var bench = APIBench(ScriptedTransport(always: .status(200, body: #"{"at":"2001"}"#)))
        bench.api.coders.configureJSONEncoder = { encoder in
            encoder.dateEncodingStrategy = .custom { date, encoder in
                var container = encoder.singleValueContainer()
                try container.encode("year")
            }
        }
        bench.api.coders.configureJSONDecoder = { decoder in
            decoder.dateDecodingStrategy = .custom { _ in Date(timeIntervalSince1970: 7) }
        }
        bench.api.coders.form.dateEncoding = .secondsSince1970
        bench.api.coders.dateEncodingStrategy = .ofCoder
        bench.api.coders.dateDecodingStrategy = .ofCoder
        let moment = Moment(at: Date(timeIntervalSince1970: 5))
        let request = APIRequest<Moment>("x", payload: moment).query(moment).method(.post)
        #expect(try await bench.api.send(request).at == Date(timeIntervalSince1970: 7))
        #expect(bench.sentText == #"{"at":"year"}"# && bench.paths == ["x?at=5"])
    }

    @Test("Forms use the client's form encoder and the request's date strategy")
    func formCoders() async throws {
        struct Form: FormURLEncodedPayload {
            var at = Date(timeIntervalSince1970: 5)
            var ok = true
        }
        struct Parts: MultipartPayload {
            var at = Date(timeIntervalSince1970: 5)
            var ok = true
        }
        var bench = bench
        bench.api.coders.form.boolEncoding = .literal
        let request = APIRequest<IgnoredBody>("x").method(.post).dateEncodingStrategy(.secondsSince1970)
        _ = try await bench.api.send(request.payload(Form()))
        #expect(bench.sentText == "at=5&ok=true")
        _ = try await bench.api.send(request.payload(Parts()))
        let body = try await bench.transport.sent.last?.body.collect(upTo: 10_000)
        let text = String(decoding: try #require(body), as: UTF8.self)
        #expect(text.contains("name=\"at\"\r\n\r\n5\r\n") && text.contains("name=\"ok\"\r\n\r\ntrue\r\n"))
    }

    @Test("C72 A payload's own strategy wins over the request's, and the request's over the client's")
    func nearestEncoding() async throws {
        var bench = bench
        bench.api.coders.dateEncodingStrategy = .secondsSince1970
        let request = APIRequest<IgnoredBody>("x").method(.post)
        _ = try await bench.api.send(request.payload(PayloadTests.Signup()))
        #expect(bench.sentText.contains("1000000000.25"))
        _ = try await bench.api.send(
            request.payload(PayloadTests.Signup()).dateEncodingStrategy(.millisecondsSince1970)
        )
        #expect(bench.sentText.contains("1000000000250"))
        _ = try await bench.api.send(request.payload(PayloadTests.Own()).dateEncodingStrategy(.millisecondsSince1970))
        #expect(bench.sentText == #"{"born":"2001-09-09"}"#)
        _ = try await bench.api.send(APIRequest<IgnoredBody>("x").query(PayloadTests.Own()))
        #expect(bench.paths.last == "x?born=2001-09-09")
        _ = try await bench.api.send(APIRequest<IgnoredBody>("x").query(PayloadTests.Own() as PayloadTests.Own?))
        #expect(bench.paths.last == "x?born=2001-09-09")
        _ = try await bench.api.send(APIRequest<IgnoredBody>("x").query(["a": [PayloadTests.Own()]]))
        #expect(bench.paths.last?.removingPercentEncoding == "x?a[][born]=2001-09-09")
    }

    @Test("C73 B-C23 A result type's own strategy wins over the request's, and the request's over the client's")
    func nearestDecoding() async throws {
        var bench = APIBench(ScriptedTransport(always: .status(200, body: #"[{"at":2000}]"#)))
        struct Plain: Decodable { var at: Date }
        bench.api.coders.dateDecodingStrategy = .millisecondsSince1970
        let plain = APIRequest<[Plain]>("x")
        #expect(try await bench.api.send(plain).first?.at == Date(timeIntervalSince1970: 2))
        let nearer = try await bench.api.send(plain.dateDecodingStrategy(.secondsSince1970)).first?.at
        #expect(nearer == Date(timeIntervalSince1970: 2_000))
        let own = try await bench.api.send(APIRequest<[PayloadTests.Moment]>("x").dateDecodingStrategy(.iso8601))
        #expect(own == [PayloadTests.Moment(at: Date(timeIntervalSince1970: 2_000))])
        let single = APIBench(.status(200, body: #"{"at":2000}"#)).api
        let maybe = try await single.send(APIRequest<PayloadTests.Moment?>("x").dateDecodingStrategy(.iso8601))
        #expect(maybe == PayloadTests.Moment(at: Date(timeIntervalSince1970: 2_000)))
        let named = APIBench(.status(200, body: #"{"a":{"at":2000}}"#)).api
        let moments = try await named.send(APIRequest<[String: PayloadTests.Moment]>("x"))
        #expect(moments == ["a": PayloadTests.Moment(at: Date(timeIntervalSince1970: 2_000))])
    }

    @Test("The client's coders write payloads and read responses")
    func coders() async throws {
        struct User: JSONPayload, Codable { var firstName: String }
        var bench = APIBench(ScriptedTransport(always: .status(200, body: #"{"first_name":"Eve"}"#)))
        bench.api.coders.configureJSONEncoder = { $0.keyEncodingStrategy = .convertToSnakeCase }
        bench.api.coders.configureJSONDecoder = { $0.keyDecodingStrategy = .convertFromSnakeCase }
        bench.api.coders.form.boolEncoding = .literal
        let request = APIRequest<User>("x", payload: User(firstName: "Ann")).method(.post).query(["ok": true])
        #expect(try await bench.api.send(request).firstName == "Eve")
        #expect(bench.sentText == #"{"first_name":"Ann"}"# && bench.paths == ["x?ok=true"])
    }
}
