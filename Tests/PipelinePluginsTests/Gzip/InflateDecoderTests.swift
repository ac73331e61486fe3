import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("GzipPlugin: gzip and deflate", .watched)
struct InflateDecoderTests {
    private let text = GzipDecodingTests.text

    @Test("Deflate in small pieces is recognised with and without its zlib wrapper", arguments: Serving.allCases)
    func deflate(serving: Serving) async throws {
        for body in [GzipBytes.zlib(text), GzipBytes.raw(text), GzipBytes.raw(text, level: 0)] {
            #expect(try await CodedAnswer(body: body, coding: "deflate").read(serving).data == text)
        }
    }

    @Test("Z01: a body that lacks up to 20 bytes at its end is truncated", arguments: Serving.allCases)
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

    @Test("Z01: a second member that is cut off is an error as well", arguments: Serving.allCases)
    func truncatedSecond(serving: Serving) async throws {
        let second = GzipBytes.gzip(text)
        for cut in 1..<second.count {
            let answer = CodedAnswer(body: GzipBytes.gzip(text) + second.dropLast(cut))
            // A single byte could be the start of anything.
            let expected: PipelineError.Code = .contentCoding(second.count - cut == 1 ? .trailing : .truncated)
            #expect(try await answer.code(serving) == expected)
        }
    }

    @Test("Z02: a wrong checksum, length or header is corrupt", arguments: Serving.allCases)
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

    @Test("Z02: flipping a bit of a 60-byte stream is an error or yields the same text", arguments: Serving.allCases)
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
                    #expect(error.code.isKind(of: .contentCoding) && error.code != .contentCoding(.decoder))
                }
            }
        }
    }

    @Test("Z03: all members of a body are decoded", arguments: Serving.allCases)
    func members(serving: Serving) async throws {
        let members = [text, Data(), GzipBytes.noise(100), text]
        let body = members.reduce(Data()) { $0 + GzipBytes.gzip($1) }
        #expect(try await CodedAnswer(body: body).read(serving).data == members.reduce(Data(), +))
        let empty = (0..<50).reduce(Data()) { all, _ in all + GzipBytes.gzip(Data()) }
        #expect(try await CodedAnswer(body: empty).read(serving).data.isEmpty)
    }

    @Test("Z04: bytes after the last member are trailing, except zeros", arguments: Serving.allCases)
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
}
