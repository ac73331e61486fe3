import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("GzipPlugin: responses", .watched)
struct GzipDecodingTests {
    static let text = Data("The quick brown fox jumps over the lazy dog, again and again and again. ".utf8)
    private let text = Self.text
    private let json = GzipBytes.json(200_000)

    // MARK: What is decoded

    @Test(
        "gzip and both forms of deflate are decoded, and the header fields of the coding are removed",
        arguments: Serving.allCases
    )
    func decoded(serving: Serving) async throws {
        for (coding, body) in [
            ("gzip", GzipBytes.gzip(json)), ("deflate", GzipBytes.zlib(json)), ("deflate", GzipBytes.raw(json)),
            ("deflate", GzipBytes.raw(json, level: 0)),
        ] {
            // 200,000 pieces of one byte would be slow.
            let piece = serving == .ones || serving == .sevens ? CodedAnswer(body: GzipBytes.gzip(text)) : nil
            let read = try await (piece ?? CodedAnswer(body: body, coding: coding)).read(serving)
            #expect(read.data == (piece == nil ? json : text))
            #expect(read.headers == [.eTag: "\"v1\""])
        }
    }

    @Test("Z06: codings in two fields form one list")
    func fields() async throws {
        var fields = HTTPFields()
        fields.append(HTTPField(name: .contentEncoding, value: "gzip"))
        fields.append(HTTPField(name: .contentEncoding, value: "deflate"))
        let body = PipelineBody.bytes(GzipBytes.zlib(GzipBytes.gzip(text)))
        let transport = ScriptedTransport(always: .status(200, headers: fields, body: body))
        let response = try await Provider<Ask>(transport: transport, plugins: [GzipPlugin()]).request(Ask())
        #expect(response.data == text)
        #expect(response.headers.isEmpty)
    }

    @Test("Z06: more codings than allowed are refused before the body is read", arguments: [6, 1_000])
    func tooMany(count: Int) async throws {
        let pieces = Pieces(GzipBytes.gzip(text), of: 7)
        let list = Array(repeating: "gzip", count: count).joined(separator: ",")
        let transport = ScriptedTransport(
            always: .status(200, headers: [.contentEncoding: list], body: .stream(pieces))
        )
        let provider = Provider<Ask>(transport: transport, plugins: [GzipPlugin()])
        let error = await #expect(throws: PipelineError.self) { try await provider.stream(Ask()) }
        #expect(error?.code == .limit(.codings))
        #expect(error?.response?.statusCode == 200)
        #expect(pieces.takenCount == 0)
        let one = CodedAnswer(
            body: GzipBytes.gzip(GzipBytes.gzip(text)),
            coding: "gzip, gzip",
            plugins: [GzipPlugin(limits: .init(codingCount: 1))]
        )
        #expect(try await one.code(.memory) == .limit(.codings))
    }

    @Test(
        "Z07: names of codings are case-insensitive, and x-gzip is gzip",
        arguments: ["x-gzip", "GZIP", "X-GZip", "identity, gzip", "gzip,identity", ",,gzip"]
    )
    func names(coding: String) async throws {
        #expect(try await CodedAnswer(body: GzipBytes.gzip(text), coding: coding).read(.memory).data == text)
    }

    @Test("Z07: identity is left unchanged", arguments: ["identity", "Identity", "", ", ,", "identity, identity"])
    func identity(coding: String) async throws {
        let answer = CodedAnswer(body: text, coding: coding)
        let read = try await answer.read(.memory)
        #expect(read.data == text)
        #expect(read.headers == answer.fields)
    }

    @Test(
        "Z07: a coding that was not requested is unsupported",
        arguments: ["compress", "gzip, foo", "foo, gzip", "zipped"]
    )
    func unsupported(coding: String) async throws {
        for serving in Serving.allCases {
            let answer = CodedAnswer(body: GzipBytes.gzip(text), coding: coding)
            #expect(try await answer.code(serving) == .contentCoding(.unsupported))
        }
    }

    @Test(
        "Z07: if the request sets Accept-Encoding itself, the response is returned unchanged",
        arguments: ["gzip", "foo", "gzip, gzip, gzip, gzip, gzip, gzip"]
    )
    func foreign(coding: String) async throws {
        let body = GzipBytes.gzip(text)
        for serving in Serving.allCases {
            let answer = CodedAnswer(body: body, coding: coding, requestHeaders: ["accept-encoding": "gzip"])
            let read = try await answer.read(serving)
            #expect(read.data == body)
            #expect(read.headers == answer.fields)
        }
    }

    @Test(
        "Z08: plain content labelled with a coding is corrupt; unlabelled gzip content is left alone",
        arguments: Serving.allCases
    )
    func mislabelled(serving: Serving) async throws {
        for coding in ["gzip", "deflate"] {
            #expect(try await CodedAnswer(body: text, coding: coding).code(serving) == .contentCoding(.corrupt))
        }
        let gzip = GzipBytes.gzip(text)
        #expect(try await CodedAnswer(body: gzip, coding: nil).read(serving).data == gzip)
        #expect(try await CodedAnswer(body: Data([0x1f, 0x8b]) + text).code(serving) == .contentCoding(.corrupt))
    }

    @Test(
        "Z09: responses without a body are untouched",
        arguments: [(204, HTTPRequest.Method.get), (205, .get), (304, .get), (200, .head), (404, .head)]
    )
    func withoutBody(status: Int, method: HTTPRequest.Method) async throws {
        let transport = ScriptedTransport { _, _ in
            .status(status, headers: [.contentEncoding: "gzip", .contentLength: "20"], body: .absent)
        }
        let provider = Provider<Ask>(transport: transport, plugins: [GzipPlugin()])
        let response = try await provider.request(Ask(method: method))
        #expect(response.headers == [.contentEncoding: "gzip", .contentLength: "20"])
        #expect(response.data.isEmpty)
        _ = try await provider.stream(Ask(method: method))
    }

    @Test("Z09: an empty body with a coding stays empty", arguments: Serving.allCases)
    func empty(serving: Serving) async throws {
        for coding in ["gzip", "deflate", "gzip, deflate"] {
            let read = try await CodedAnswer(body: Data(), coding: coding).read(serving)
            #expect(read.data.isEmpty)
            #expect(read.headers == [.eTag: "\"v1\""])
        }
        #expect(try await CodedAnswer(body: GzipBytes.gzip(Data())).read(serving).data.isEmpty)
    }

    @Test("A partial response (206) is untouched")
    func partial() async throws {
        let answer = CodedAnswer(body: GzipBytes.gzip(text).dropFirst(5), status: 206)
        #expect(try await answer.read(.memory).headers == answer.fields)
    }

    @Test("A response with any other status is decoded as well", arguments: [201, 400, 404, 503])
    func statuses(status: Int) async throws {
        #expect(try await CodedAnswer(body: GzipBytes.gzip(text), status: status).read(.memory).data == text)
    }

    @Test("Compressing and decoding restore the original bytes, whatever the sizes of the pieces")
    func property() async throws {
        let random = PipelineRandom.seeded(4)
        for round in 0..<150 {
            let count = Int(random.next() % (round % 10 == 0 ? 300_000 : 3_000))
            let data =
                round % 3 == 0
                ? GzipBytes.noise(count, seed: random.next()) : GzipBytes.json(count, seed: random.next())
            let level = 1 + Int(random.next() % 9)
            let transport = ScriptedTransport(always: .status(200))
            let plugin = GzipPlugin(requestCompression: .always, level: level, minimumByteCount: 0)
            let pieces = Pieces(data, of: 1 + Int(random.next() % 5_000))
            let target = Ask(
                method: .post,
                task: .requestStream(.stream(pieces)),
                headers: ["Content-Type": "text/plain"]
            )
            _ = try await Provider<Ask>(transport: transport, plugins: [plugin]).request(target)
            let sent = try #require(transport.sent.first)
            #expect(sent.headers[.contentEncoding] == "gzip")
            let coded = try await sent.body.collect(upTo: 1 << 20)
            #expect(GzipBytes.gunzip(coded) == data)
            let step = ScriptedTransport.Step.status(
                200,
                headers: [.contentEncoding: "gzip"],
                body: .stream(Pieces(coded, of: 1 + Int(random.next() % 5_000)))
            )
            let provider = Provider<Ask>(transport: ScriptedTransport(always: step), plugins: [GzipPlugin()])
            let body = try await provider.stream(Ask()).response.body
            #expect(try await body.collect(upTo: 1 << 20) == data)
        }
    }
}
