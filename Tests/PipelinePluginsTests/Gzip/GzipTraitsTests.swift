import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

/// The codings that the trait `Compression` adds.
@Suite("GzipPlugin: codings by trait", .watched)
struct GzipTraitsTests {
    private let text = GzipDecodingTests.text

    /// The value of Accept-Encoding with the traits of this build.
    static let accepted: String = {
        var names = ["gzip", "deflate"]
        #if Compression
        names.append("br")
        #endif
        #if Compression
        names.append("zstd")
        #endif
        return names.joined(separator: ", ")
    }()

    #if !Compression
    @Test("Without its trait, br is unsupported")
    func noBrotli() async throws {
        let answer = CodedAnswer(body: text, coding: "br")
        #expect(try await answer.code(.memory) == .contentCoding(.unsupported))
    }
    #endif

    #if !Compression
    @Test("Without its trait, zstd is unsupported")
    func noZstd() async throws {
        let answer = CodedAnswer(body: text, coding: "zstd")
        #expect(try await answer.code(.memory) == .contentCoding(.unsupported))
    }
    #endif

    static let vectors: [(coding: String, body: Data)] = {
        var vectors: [(String, Data)] = []
        #if Compression
        let brotli = "G0cAqJwHdiywbD0K2E+oqcLQ3iSZGVuDsMzlzTM8PXDIgcPh8yAPSIMNOI9kmvdlOrQaIojrGHT0Zz9LYyhcBwE="
        vectors.append(("br", Data(base64Encoded: brotli) ?? Data()))
        #endif
        #if Compression
        let zstd =
            "KLUv/QRo7QEAggMNEZB9UPpD6Q+lf013F9Vdf8wBHsp7f+rRO0CwuN7f3KTq01zoNDq7PMPjD8M5nBFlpZskAgEAVqRAAfwRGpY="
        vectors.append(("zstd", Data(base64Encoded: zstd) ?? Data()))
        #endif
        return vectors
    }()

    @Test("A body in a coding that a trait adds is decoded", arguments: Serving.allCases)
    func decoded(serving: Serving) async throws {
        for (coding, body) in Self.vectors {
            #expect(try await CodedAnswer(body: body, coding: coding).read(serving).data == text)
            let twice = CodedAnswer(body: GzipBytes.gzip(body), coding: "\(coding), gzip")
            #expect(try await twice.read(serving).data == text)
            #expect(try await CodedAnswer(body: Data(), coding: coding).read(serving).data.isEmpty)
        }
    }

    @Test("A body that is truncated, damaged or followed by other bytes is an error", arguments: Serving.allCases)
    func damaged(serving: Serving) async throws {
        for (coding, body) in Self.vectors {
            for cut in 1..<body.count {
                let answer = CodedAnswer(body: body.dropLast(cut), coding: coding)
                #expect(try await answer.code(serving) == .contentCoding(.truncated))
            }
            let followed = CodedAnswer(body: body + Data("<html>".utf8), coding: coding)
            #expect(try await followed.code(serving) == .contentCoding(.trailing))
            let plain = CodedAnswer(body: Data(repeating: 0xff, count: 100), coding: coding)
            #expect(try await plain.code(serving) == .contentCoding(.corrupt))
            for position in 0..<(body.count * 8) {
                var edited = body
                edited[position / 8] ^= 1 << (position % 8)
                let code = try await CodedAnswer(body: edited, coding: coding).code(serving)
                #expect(code?.isKind(of: .contentCoding) ?? true)
            }
        }
    }
}
