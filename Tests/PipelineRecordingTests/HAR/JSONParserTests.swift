import Foundation
import Pipeline
import TestSupport
import Testing

@testable import PipelineRecording

@Suite("JSONParser", .tags(.concurrent), .watched)
struct JSONParserTests {
    @Test(
        "Escapes are read as their characters, and a lone surrogate as U+FFFD",
        arguments: [
            (#""\u00e9\u0041\/\b\f""#, "\u{e9}A/\u{8}\u{c}"), (#""\ud83d\udc4d""#, "\u{1f44d}"),
            (#""\ud83d""#, "\u{fffd}"), (#""\ud83dx""#, "\u{fffd}x"), (#""\udc4d\ud83d""#, "\u{fffd}\u{fffd}"),
            (#""\ud83d\u0041""#, "\u{fffd}A"), (#""\uFEFF""#, "\u{feff}"), (#""\ud83d\n""#, "\u{fffd}\n"),
        ]
    )
    func escapes(text: String, value: String) throws {
        #expect(try JSONParser.parse(text.utf8).string.map { Array($0.utf8) } == Array(value.utf8))
    }

    @Test(
        "Invalid JSON is refused with its byte offset",
        arguments: [
            ("", 0), (" ", 1), ("nul", 3), ("nulL", 3), ("tru", 3), ("+1", 0), ("01", 1), ("-", 1), ("1.", 2),
            ("1e", 2),
            (".5", 0), ("1 2", 2), ("[1,]", 3), ("[1", 2), ("[1}", 2), ("{", 1), (#"{"a"}"#, 4), (#"{"a":}"#, 5),
            (#"{"a":1,}"#, 7), ("{1:2}", 1), (#""a"#, 2), ("\"\u{1}\"", 1), (#""\x""#, 2), (#""\u12g4""#, 5),
            (#""\u12"#, 5),
            ("'a'", 0), ("[1 2]", 3), ("\u{feff}1", 0), ("nan", 1), ("-Inf", 4), ("[\u{0}]", 1), (#""\"#, 2),
        ]
    )
    func invalid(text: String, offset: Int) {
        let error = #expect(throws: JSONParser.Failure.self) { try JSONParser.parse(text.utf8) }
        #expect(error?.offset == offset, "\(text): \(error?.reason ?? "")")
        #expect(error?.reason.isEmpty == false)
    }

    @Test(
        "A string that is not UTF-8 is refused with the offset of its start",
        arguments: [[0xff], [0x61, 0xc3], [0xed, 0xa0, 0x80]]
    )
    func notUTF8(bytes: [UInt8]) {
        let text = Array("[\"".utf8) + bytes + Array("\"]".utf8)
        let error = #expect(throws: JSONParser.Failure.self) { try JSONParser.parse(text) }
        #expect(error?.offset == 2 && error?.reason == "a string is not UTF-8")
    }

    @Test("NaN and infinities, as Python writes them, are read as null", arguments: ["NaN", "Infinity", "-Infinity"])
    func notFinite(text: String) throws {
        #expect(try JSONParser.parse("[\(text),1]".utf8) == .array([.null, .number("1")]))
    }

    @Test("F04 Nesting that is too deep is an error, even on a thread with a small stack", arguments: ["[", "{\"a\":"])
    func depth(bracket: String) async {
        let outcome: (Bool, [Int?]) = await withCheckedContinuation { continuation in
            let thread = Thread {
                let end = bracket == "[" ? "]" : "}"
                let deepest = JSONParser.maximumDepth - 1
                let text = String(repeating: bracket, count: deepest) + "1" + String(repeating: end, count: deepest)
                let isRead = (try? JSONParser.parse(text.utf8))?.data() == Data(text.utf8)
                let bombs = [JSONParser.maximumDepth, 100_000].map { String(repeating: bracket, count: $0) + "1" }
                let offsets = bombs.map { Self.failure(of: $0)?.offset }
                continuation.resume(returning: (isRead, offsets))
            }
            thread.stackSize = 512 << 10
            thread.start()
        }
        #expect(outcome.0)
        #expect(outcome.1 == [Int?](repeating: bracket.utf8.count * JSONParser.maximumDepth, count: 2))
    }

    @Test("F04 More values than the maximum are an error")
    func values() {
        let text = "[" + String(repeating: "0,", count: JSONParser.maximumValueCount) + "0]"
        #expect(Self.failure(of: text)?.offset == 2 * JSONParser.maximumValueCount - 1)
    }

    @Test("Random values are read as Foundation reads them, and are unchanged after Foundation writes them")
    func foundation() throws {
        var random = PipelineRandom.seeded(6)
        for _ in 0..<500 {
            let node = Self.node(&random, depth: 0)
            let data = node.data(indentation: Bool.random(using: &random) ? 0 : nil)
            #expect(try JSONParser.parse(data) == node)
            let foreign = try JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)
            #expect(Self.isSame(node, foreign), "\(String(decoding: data, as: UTF8.self))")
            let written = try JSONSerialization.data(
                withJSONObject: foreign,
                options: [.fragmentsAllowed, .prettyPrinted]
            )
            #expect(Self.isSame(try JSONParser.parse(written), foreign))
        }
    }

    @Test("Damaged JSON that Foundation reads is read the same")
    func damage() throws {
        var random = PipelineRandom.seeded(7)
        var refused = 0
        for _ in 0..<500 {
            var bytes = [UInt8](JSONNode.array([Self.node(&random, depth: 1)]).data())
            let alphabet = Array(#"{}[],:"\0123456789.-+eEtfnu \#u{1f}é"#.utf8)
            for _ in 0...Int.random(in: 0..<2, using: &random) {
                bytes[Int.random(in: 0..<bytes.count, using: &random)] = alphabet.randomElement(using: &random) ?? 0
            }
            guard let foreign = try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed) else {
                refused += 1
                continue
            }
            guard let node = try? JSONParser.parse(bytes) else {
                Issue.record("Foundation reads \(String(decoding: bytes, as: UTF8.self))")
                continue
            }
            #expect(Self.isSame(node, foreign), "\(String(decoding: bytes, as: UTF8.self))")
        }
        #expect(refused > 50)
    }

    private static func failure(of text: String) -> JSONParser.Failure? {
        do throws(JSONParser.Failure) { _ = try JSONParser.parse(text.utf8) } catch { return error }
        return nil
    }

    // MARK: Random values

    private static func node(_ random: inout PipelineRandom, depth: Int) -> JSONNode {
        switch Int.random(in: 0..<(depth < 4 ? 7 : 5), using: &random) {
        case 0: return .null
        case 1: return .bool(Bool.random(using: &random))
        case 2: return .integer(Int.random(in: -1000...1000, using: &random))
        case 3: return .number("\(Double(Int.random(in: -1_000_000...1_000_000, using: &random)) / 64)")
        case 4: return .string(text(&random))
        case 5: return .array((0..<Int.random(in: 0..<4, using: &random)).map { _ in node(&random, depth: depth + 1) })
        default:
            let names = Set((0..<Int.random(in: 0..<4, using: &random)).map { _ in text(&random) })
            return .object(names.map { .init($0, node(&random, depth: depth + 1)) })
        }
    }

    private static func text(_ random: inout PipelineRandom) -> String {
        let scalars: [Unicode.Scalar] = [
            "a", "\"", "\\", "\n", "\u{0}", "\u{1f}", "/", "é", "\u{2028}", "👍", "\u{7f}", "\t",
        ]
        var text = String.UnicodeScalarView()
        for _ in 0..<Int.random(in: 0..<6, using: &random) { text.append(scalars.randomElement(using: &random) ?? "a") }
        return String(text)
    }

    private static func isSame(_ node: JSONNode, _ foreign: Any) -> Bool {
        switch node {
        case .null: return foreign is NSNull
        case .bool(let value): return foreign as? Bool == value
        case .number: return (foreign as? NSNumber)?.doubleValue == node.double
        case .string(let text): return (foreign as? String).map { Array($0.utf8) } == Array(text.utf8)
        case .array(let elements):
            guard let foreign = foreign as? [Any], foreign.count == elements.count else { return false }
            return zip(elements, foreign).allSatisfy { isSame($0, $1) }
        case .object(let members):
            guard let foreign = foreign as? [String: Any] else { return false }
            return Set(members.map(\.name)).count == foreign.count
                && foreign.allSatisfy { name, value in
                    isSame(node.members.last { $0.name == name }?.value ?? .null, value)
                }
        }
    }
}
