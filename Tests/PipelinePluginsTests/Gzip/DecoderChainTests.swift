import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("GzipPlugin: several codings", .watched)
struct DecoderChainTests {
    private let text = GzipDecodingTests.text

    private let json = GzipBytes.json(200_000)

    @Test("Z06: codings are undone in reverse order", arguments: Serving.allCases)
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

    @Test("Z06: an inner coding is checked as well", arguments: Serving.allCases)
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
}
