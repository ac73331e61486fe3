import Foundation
import Pipeline
import Synchronization
import TestSupport
import Testing

@Suite("URLFormEncoder, containers", .watched)
struct TreeEncoderContainersTests {
    class Base: Encodable {
        let id = 1
        let kind = "base"
    }

    /// Encodes its superclass under `super` and also in its own container.
    final class Derived: Base {
        enum Key: CodingKey { case name, kind }
        override func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Key.self)
            try container.encode("n", forKey: .name)
            try super.encode(to: container.superEncoder())
            try super.encode(to: encoder)
            try container.encode("derived", forKey: .kind)
        }
    }

    @Test("B-C17 A superclass is encoded under super or in the same container, where a key's last value wins")
    func superclass() throws {
        let text = try URLFormEncoder().encode(Derived())
        #expect(text == "name=n&super%5Bid%5D=1&super%5Bkind%5D=base&id=1&kind=derived")
    }

    @Test("Nested containers and super encoders may be filled in any order and keep their order of creation")
    func nested() throws {
        let value = TreeEncoderTests.Value { encoder in
            var container = encoder.container(keyedBy: TreeEncoderTests.Value.Key.self)
            var object = container.nestedContainer(keyedBy: TreeEncoderTests.Value.Key.self, forKey: .b)
            var array = container.nestedUnkeyedContainer(forKey: .a)
            let inner = container.superEncoder(forKey: .d)
            try container.encode(0, forKey: .c)
            var innermost = array.nestedContainer(keyedBy: TreeEncoderTests.Value.Key.self)
            var pair = array.nestedUnkeyedContainer()
            try 5.encode(to: array.superEncoder())
            try pair.encode(3)
            try pair.encodeNil()
            try pair.encode(4)
            #expect(array.count == 3)
            #expect(pair.count == 3)
            try innermost.encode(2, forKey: .a)
            try object.encode(1, forKey: .a)
            var again = container.nestedContainer(keyedBy: TreeEncoderTests.Value.Key.self, forKey: .b)
            try again.encode(9, forKey: .b)
            try ["k": 6].encode(to: inner)
        }
        let text = try URLFormEncoder(arrayEncoding: .indexInBrackets).encode(value)
        let expected =
            "b[a]=1&b[b]=9&a[0][a]=2&a[1][0]=3&a[1][2]=4&a[2]=5&d[k]=6&c=0"
        #expect(text.removingPercentEncoding == expected)
    }

    @Test("Coding paths match the structure of the value")
    func codingPaths() throws {
        let paths = Mutex<[String]>([])
        let note: @Sendable (any Encoder) -> Void = { encoder in
            paths.withLock { $0.append(encoder.codingPath.map(\.stringValue).joined(separator: ".")) }
        }
        let value = TreeEncoderTests.Value { encoder in
            note(encoder)
            var container = encoder.container(keyedBy: TreeEncoderTests.Value.Key.self)
            try container.encode([TreeEncoderTests.Value(note), TreeEncoderTests.Value(note)], forKey: .a)
            try container.encode(TreeEncoderTests.Value?.some(TreeEncoderTests.Value(note)), forKey: .b)
            note(container.superEncoder())
            var array = container.nestedUnkeyedContainer(forKey: .c)
            note(array.superEncoder())
            #expect(encoder.userInfo.isEmpty)
        }
        _ = try URLFormEncoder().encode(value)
        #expect(paths.withLock { $0 } == ["", "a.0", "a.1", "b", "super", "c.0"])
    }
}
