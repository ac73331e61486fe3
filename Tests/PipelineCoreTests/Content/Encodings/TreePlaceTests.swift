import Foundation
import Pipeline
import TestSupport
import Testing

@Suite("URLFormEncoder, order and names", .watched)
struct TreePlaceTests {
    static let shuffled = Dictionary(uniqueKeysWithValues: "kbjaeifhgdc".map { (String($0), 1) })
    static let sorted = "abcdefghijk".map { "\($0)=1" }.joined(separator: "&")

    @Test("A dictionary encoded in a value's own container is sorted and keeps its place among the members")
    func forwardedDictionary() throws {
        #expect(try URLFormEncoder().encode(TreeEncoderTests.Value { try Self.shuffled.encode(to: $0) }) == Self.sorted)
        let mixed = TreeEncoderTests.Value { encoder in
            var container = encoder.container(keyedBy: TreeEncoderTests.Value.Key.self)
            try container.encode(2, forKey: .next)
            try Dictionary(uniqueKeysWithValues: Self.shuffled.map { ("z" + $0, $1) }).encode(to: encoder)
            try container.encode(3, forKey: .a)
            try ["y": 4, "x": 5].encode(to: encoder)
        }
        let expected = "next=2&" + "abcdefghijk".map { "z\($0)=1" }.joined(separator: "&") + "&a=3&x=5&y=4"
        #expect(try URLFormEncoder().encode(mixed) == expected)
    }

    @Test("Two members with the same encoded name both appear, and a key encoded twice has its last value")
    func sameNames() throws {
        struct Twice: Encodable {
            enum CodingKeys: String, CodingKey {
                case perPage
                case other = "per_page"
            }
            var perPage = 1, other = 2
        }
        #expect(try URLFormEncoder(keyEncoding: .convertToSnakeCase).encode(Twice()) == "per_page=1&per_page=2")
        let again = TreeEncoderTests.Value { encoder in
            var container = encoder.container(keyedBy: TreeEncoderTests.Value.Key.self)
            try container.encode(1, forKey: .a)
            try container.encode(2, forKey: .b)
            try container.encode(3, forKey: .a)
        }
        #expect(try URLFormEncoder().encode(again) == "a=3&b=2")
    }
}
