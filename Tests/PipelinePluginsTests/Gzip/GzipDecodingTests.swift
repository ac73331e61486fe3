import Foundation
import HTTPTypes
import Pipeline
import PipelinePlugins
import PipelineTesting
import Testing

@Suite("GzipPlugin: answers", .timeLimit(.minutes(10)))
struct GzipDecodingTests {
    static let text = Data("The quick brown fox jumps over the lazy dog, again and again and again. ".utf8)
    private let text = Self.text
    private let json = GzipBytes.json(200_000)

    // MARK: What is decoded

    @Test(
        "gzip and both forms of deflate are decoded, and the fields of the coding are removed",
        arguments: Serving.allCases
    )
    func decoded(serving: Serving) async throws {
        for (coding, body) in [
            ("gzip", GzipBytes.gzip(json)), ("deflate", GzipBytes.zlib(json)), ("deflate", GzipBytes.raw(json)),
            ("deflate", GzipBytes.raw(json, level: 0)),
        ] {
            // 200,000 pieces of a byte would be slow.
            let piece = serving == .ones || serving == .sevens ? CodedAnswer(body: GzipBytes.gzip(text)) : nil
            let read = try await (piece ?? CodedAnswer(body: body, coding: coding)).read(serving)
            #expect(read.data == (piece == nil ? json : text))
            #expect(read.headers == [.eTag: "\"v1\""])
        }
    }

    @Test("Deflate in small pieces is told apart with and without its wrapper", arguments: Serving.allCases)
    func deflate(serving: Serving) async throws {
        for body in [GzipBytes.zlib(text), GzipBytes.raw(text), GzipBytes.raw(text, level: 0)] {
            #expect(try await CodedAnswer(body: body, coding: "deflate").read(serving).data == text)
        }
    }

    @Test("Z01: a body cut at each of its last 20 bytes is truncated", arguments: Serving.allCases)
    func truncated(serving: Serving) async throws {
        let body = GzipBytes.gzip(GzipBytes.noise(60))
        for cut in 1...20 {
            #expect(try await CodedAnswer(body: body.dropLast(cut)).code(serving) == .contentCoding(.truncated))
        }
        for count in 1..<18 {
            #expect(try await CodedAnswer(body: body.prefix(count)).code(serving) == .contentCoding(.truncated))
        }
        let other = GzipBytes.zlib(text)
        for cut in [1, 4, 5, other.count - 1] {
            let answer = CodedAnswer(body: other.dropLast(cut), coding: "deflate")
            #expect(try await answer.code(serving) == .contentCoding(.truncated))
        }
        let raw = CodedAnswer(body: GzipBytes.raw(text).dropLast(), coding: "deflate")
        #expect(try await raw.code(serving) == .contentCoding(.truncated))
    }

    @Test("Z01: the second member may be cut as little as the first", arguments: Serving.allCases)
    func truncatedSecond(serving: Serving) async throws {
        let second = GzipBytes.gzip(text)
        for cut in 1..<second.count {
            let answer = CodedAnswer(body: GzipBytes.gzip(text) + second.dropLast(cut))
            // Of one byte nobody knows what it was to be.
            let expected: PipelineError.Code = .contentCoding(second.count - cut == 1 ? .trailing : .truncated)
            #expect(try await answer.code(serving) == expected)
        }
    }

    @Test("Z02: a check sum, a length or a header that is wrong is corrupt", arguments: Serving.allCases)
    func corrupt(serving: Serving) async throws {
        let body = GzipBytes.gzip(text)
        for offset in 1...8 {
            for bit in 0..<8 {
                var edited = body
                edited[edited.count - offset] ^= 1 << bit
                #expect(try await CodedAnswer(body: edited).code(serving) == .contentCoding(.corrupt))
            }
        }
        for flags: UInt8 in [0x20, 0x40, 0x80, 0xe0] {
            let member = GzipBytes.member(text, flags: flags)
            #expect(try await CodedAnswer(body: member).code(serving) == .contentCoding(.corrupt))
        }
        let method = GzipBytes.member(text, flags: 0, method: 7)
        #expect(try await CodedAnswer(body: method).code(serving) == .contentCoding(.corrupt))
        let head = Data([0x1f, 0x8b, 8, 2, 0, 0, 0, 0, 0, 3])
        let sum = GzipBytes.headerSum(of: head)
        let checked = CodedAnswer(body: GzipBytes.member(text, flags: 2, fields: sum))
        #expect(try await checked.read(serving).data == text)
        let unchecked = CodedAnswer(body: GzipBytes.member(text, flags: 2, fields: Data(sum.map { $0 ^ 1 })))
        #expect(try await unchecked.code(serving) == .contentCoding(.corrupt))
        let dictionary = CodedAnswer(body: Data([0x78, 0xbb, 0, 0, 0, 1]) + GzipBytes.raw(text), coding: "deflate")
        #expect(try await dictionary.code(serving) == .contentCoding(.corrupt))
    }

    @Test("Z02: each bit of a stream of 60 bytes flipped is an error or the same text", arguments: Serving.allCases)
    func flips(serving: Serving) async throws {
        var plain = Data("flip each bit of it, flip each bit!".utf8)
        while GzipBytes.gzip(plain).count < 60 { plain.append(UInt8(plain.count)) }
        #expect(GzipBytes.gzip(plain).count == 60)
        for (coding, body, isChecked) in [
            ("gzip", GzipBytes.gzip(plain), true), ("deflate", GzipBytes.zlib(plain), true),
            ("deflate", GzipBytes.raw(plain), false),
        ] {
            for position in 0..<(body.count * 8) {
                var edited = body
                edited[position / 8] ^= 1 << (position % 8)
                do {
                    let read = try await CodedAnswer(body: edited, coding: coding).read(serving)
                    #expect(read.data == plain || !isChecked)
                } catch let error as PipelineError {
                    #expect(error.code.isKind(of: .contentCoding) && error.code != .contentCoding)
                }
            }
        }
    }

    @Test("Z03: of several members all are decoded", arguments: Serving.allCases)
    func members(serving: Serving) async throws {
        let members = [text, Data(), GzipBytes.noise(100), text]
        let body = members.reduce(Data()) { $0 + GzipBytes.gzip($1) }
        #expect(try await CodedAnswer(body: body).read(serving).data == members.reduce(Data(), +))
        let empty = (0..<50).reduce(Data()) { all, _ in all + GzipBytes.gzip(Data()) }
        #expect(try await CodedAnswer(body: empty).read(serving).data.isEmpty)
    }

    @Test("Z04: what follows the last member is trailing, but for zeros", arguments: Serving.allCases)
    func trailing(serving: Serving) async throws {
        let body = GzipBytes.gzip(text)
        for tail in [[1], [0x1f], [0x1f, 0x8c, 8, 0], [0, 0, 1], [0, 0x1f, 0x8b], Array("<html>".utf8)] as [[UInt8]] {
            #expect(try await CodedAnswer(body: body + tail).code(serving) == .contentCoding(.trailing), "\(tail)")
        }
        for count in [1, 511, 512] {
            let padded = CodedAnswer(body: body + Data(count: count))
            #expect(try await padded.read(serving).data == text)
        }
        for deflate in [GzipBytes.zlib(text), GzipBytes.raw(text)] {
            #expect(try await CodedAnswer(body: deflate + Data(count: 3), coding: "deflate").read(serving).data == text)
            let again = CodedAnswer(body: deflate + deflate, coding: "deflate")
            #expect(try await again.code(serving) == .contentCoding(.trailing))
        }
    }

    @Test("Z06: codings are undone in reverse", arguments: Serving.allCases)
    func several(serving: Serving) async throws {
        let twice = GzipBytes.zlib(GzipBytes.gzip(text))
        for coding in ["gzip, deflate", "gzip,deflate", " , gzip ,\t, deflate,"] {
            #expect(try await CodedAnswer(body: twice, coding: coding).read(serving).data == text)
        }
        let wrong = CodedAnswer(body: twice, coding: "deflate, gzip")
        #expect(try await wrong.code(serving) == .contentCoding(.corrupt))
        let five = (0..<5).reduce(json) { body, _ in GzipBytes.gzip(body) }
        let list = Array(repeating: "gzip", count: 5).joined(separator: ", ")
        guard serving == .memory || serving == .blocks else { return }
        #expect(try await CodedAnswer(body: five, coding: list).read(serving).data == json)
    }

    @Test("Z06: a coding within a coding is checked as well", arguments: Serving.allCases)
    func severalDamaged(serving: Serving) async throws {
        let inner = GzipBytes.gzip(text)
        for (body, code) in [
            (GzipBytes.gzip(inner.dropLast()), PipelineError.Code.contentCoding(.truncated)),
            (GzipBytes.gzip(inner).dropLast(), .contentCoding(.truncated)),
            (GzipBytes.gzip(inner + [1]), .contentCoding(.trailing)),
            (GzipBytes.gzip(inner) + [1], .contentCoding(.trailing)),
            (GzipBytes.gzip(text), .contentCoding(.corrupt)),
        ] {
            #expect(try await CodedAnswer(body: body, coding: "gzip, gzip").code(serving) == code)
        }
    }

    @Test("Z06: codings over two fields are one list")
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
        "Z07: names of codings are compared without case, and x-gzip is gzip",
        arguments: ["x-gzip", "GZIP", "X-GZip", "identity, gzip", "gzip,identity", ",,gzip"]
    )
    func names(coding: String) async throws {
        #expect(try await CodedAnswer(body: GzipBytes.gzip(text), coding: coding).read(.memory).data == text)
    }

    @Test("Z07: identity is left as it is", arguments: ["identity", "Identity", "", ", ,", "identity, identity"])
    func identity(coding: String) async throws {
        let answer = CodedAnswer(body: text, coding: coding)
        let read = try await answer.read(.memory)
        #expect(read.data == text)
        #expect(read.headers == answer.fields)
    }

    @Test(
        "Z07: a coding that was not asked for is unsupported",
        arguments: ["compress", "gzip, foo", "foo, gzip", "zipped"]
    )
    func unsupported(coding: String) async throws {
        for serving in Serving.allCases {
            let answer = CodedAnswer(body: GzipBytes.gzip(text), coding: coding)
            #expect(try await answer.code(serving) == .contentCoding(.unsupported))
        }
    }

    @Test(
        "Z07: where Accept-Encoding was set the answer is handed over as it is",
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
        "Z08: what says gzip and is plain is corrupt; what says nothing and is gzip is left",
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
        "Z09: answers without a whole body are untouched",
        arguments: [(204, HTTPMethod.get), (205, .get), (304, .get), (200, .head), (404, .head)]
    )
    func withoutBody(status: Int, method: HTTPMethod) async throws {
        let transport = ScriptedTransport { _, _ in
            .status(status, headers: [.contentEncoding: "gzip", .contentLength: "20"], body: .none)
        }
        let provider = Provider<Ask>(transport: transport, plugins: [GzipPlugin()])
        let response = try await provider.request(Ask(method: method))
        #expect(response.headers == [.contentEncoding: "gzip", .contentLength: "20"])
        #expect(response.data.isEmpty)
        _ = try await provider.stream(Ask(method: method))
    }

    @Test("Z09: a coded body of no bytes is a body of no bytes", arguments: Serving.allCases)
    func empty(serving: Serving) async throws {
        for coding in ["gzip", "deflate", "gzip, deflate"] {
            let read = try await CodedAnswer(body: Data(), coding: coding).read(serving)
            #expect(read.data.isEmpty)
            #expect(read.headers == [.eTag: "\"v1\""])
        }
        #expect(try await CodedAnswer(body: GzipBytes.gzip(Data())).read(serving).data.isEmpty)
    }

    @Test("A part of a body, a 206, is untouched")
    func partial() async throws {
        let answer = CodedAnswer(body: GzipBytes.gzip(text).dropFirst(5), status: 206)
        #expect(try await answer.read(.memory).headers == answer.fields)
    }

    @Test("An answer of any other status is decoded as well", arguments: [201, 400, 404, 503])
    func statuses(status: Int) async throws {
        #expect(try await CodedAnswer(body: GzipBytes.gzip(text), status: status).read(.memory).data == text)
    }

    @Test("Z11: a name, a comment and an extra field of any length are skipped", arguments: [100, 65_535, 3 << 20])
    func longHeader(count: Int) async throws {
        let long = Data(repeating: 0x61, count: count)
        let size = min(count, 65_535)
        let extra = Data([UInt8(size & 255), UInt8(size >> 8)]) + long.prefix(size)
        let fields = extra + long + [0] + long + [0]
        let body = GzipBytes.member(text, flags: 0x1c, fields: fields)
        for serving in [Serving.memory, .blocks] {
            #expect(try await CodedAnswer(body: body).read(serving).data == text)
            let cut = CodedAnswer(body: body.prefix(fields.count))
            #expect(try await cut.code(serving) == .contentCoding(.truncated))
        }
        if count == 100 { #expect(try await CodedAnswer(body: body).read(.ones).data == text) }
    }

    @Test("Whatever the pieces on both ways, what was sent is what is read")
    func property() async throws {
        let random = PipelineRandom.seeded(4)
        for round in 0..<150 {
            let count = Int(random.next() % (round % 10 == 0 ? 300_000 : 3_000))
            let data =
                round % 3 == 0
                ? GzipBytes.noise(count, seed: random.next()) : GzipBytes.json(count, seed: random.next())
            let level = 1 + Int(random.next() % 9)
            let transport = ScriptedTransport(always: .status(200))
            let plugin = GzipPlugin(level: level, minimumByteCount: 0)
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
