import Foundation
import Pipeline
import Synchronization
import TestSupport
import Testing

@Suite("URLFormEncoder, structure and refusals", .watched)
struct TreeEncoderTests {
    typealias One = URLFormEncoderTests.One

    /// A value that is encoded by a closure.
    struct Value: Encodable, Sendable {
        enum Key: String, CodingKey { case a, b, c, d, next }
        let write: @Sendable (any Encoder) throws -> Void
        init(_ write: @escaping @Sendable (any Encoder) throws -> Void) { self.write = write }
        func encode(to encoder: any Encoder) throws { try write(encoder) }
    }

    static func refusal(_ value: any Encodable, _ encoder: URLFormEncoder = URLFormEncoder()) throws -> PipelineError {
        let error = #expect(throws: PipelineError.self) { try encoder.encode(value) }
        #expect(error?.code == .encoding)
        return try #require(error)
    }

    static let refused: [(any Encodable & Sendable, String)] = [
        (["a": ["b": Double.nan]], #"at "a.b" is not a finite number"#),
        (One([1, -Double.infinity]), #"at "a.1" is not a finite number"#),
        (One(Float.infinity), #"at "a" is not a finite number"#),
        (["a": Decimal.nan], #"at "a" is not a finite number"#),
        (["a": Date(timeIntervalSinceReferenceDate: .nan)], #"at "a" is not a finite date"#),
        (Double.nan, "the value is not a finite number"),
        (
            Value {
                var container = $0.container(keyedBy: Value.Key.self)
                try container.encode(1, forKey: .a)
                var array = $0.unkeyedContainer()
                try array.encode(1)
            }, "the value is encoded in more than one form"
        ),
        (
            One(
                Value {
                    var container = $0.singleValueContainer()
                    try container.encode(1)
                    _ = $0.container(keyedBy: Value.Key.self)
                }
            ), #"at "a" is encoded in more than one form"#
        ),
    ]

    @Test("A value that a form cannot hold fails with a typed error that has its path", arguments: 0..<refused.count)
    func refusedValues(_ row: Int) throws {
        let (value, reason) = Self.refused[row]
        #expect(try Self.refusal(value).reason.contains(reason))
    }

    @Test("If a date encoding throws, the typed error has the path and the cause as underlying error")
    func refusedDate() throws {
        struct NoSuchDay: Error {}
        let encoder = URLFormEncoder(dateEncoding: .custom { _ in throw NoSuchDay() })
        let error = try Self.refusal(["born": Date.distantPast], encoder)
        #expect(error.reason.contains("\"born\""))
        #expect(error.underlyingError is NoSuchDay)
    }

    @Test("A top-level value without keys fails with a typed error that names its type", arguments: [0, 1, 2, 3, 4, 5])
    func keylessTop(_ row: Int) throws {
        let tops: [any Encodable] = [
            1, "text", [1, 2], Date.distantPast, [URLFormEncoderTests.Sort.newest: 1], Set<Int>(),
        ]
        let error = try Self.refusal(tops[row])
        #expect(error.reason.contains("\(type(of: tops[row]))"))
        #expect(error.reason.contains("keys"))
    }

    @Test("An error that a value throws is wrapped in a typed error that does not quote it")
    func ownError() throws {
        struct Own: Error { let secret = "CANARY" }
        let error = try Self.refusal(One(Value { _ in throw Own() }))
        #expect(error.underlyingError is Own)
        #expect(error.reason.contains("One"))
        #expect(!error.description.contains("CANARY"))

        let invalid = Value {
            throw EncodingError.invalidValue(1, .init(codingPath: $0.codingPath, debugDescription: "CANARY"))
        }
        let named = try Self.refusal(One(invalid))
        #expect(named.reason.contains(#"at "a""#))
        #expect(!named.description.contains("CANARY"))

        let code = PipelineError.Code(rawValue: "own.code")
        let typed = #expect(throws: PipelineError.self) {
            try URLFormEncoder().encode(Value { _ in throw PipelineError(code, "mine") })
        }
        #expect(typed?.code == code)
    }

    // MARK: Depth

    /// A value that contains itself through one kind of container.
    ///
    /// It is not `Encodable`, because the test library would encode the argument.
    struct Ring: Sendable, CustomTestStringConvertible {
        struct Value: Encodable, Sendable {
            let write: @Sendable (Value, any Encoder) throws -> Void
            func encode(to encoder: any Encoder) throws { try write(self, encoder) }
        }

        let testDescription: String
        let value: Value

        init(_ name: String, _ write: @escaping @Sendable (Value, any Encoder) throws -> Void) {
            testDescription = name
            value = Value(write: write)
        }
    }

    static let rings: [Ring] = [
        Ring("by a key") {
            var container = $1.container(keyedBy: Value.Key.self)
            try container.encode($0, forKey: .next)
        },
        Ring("in an array") {
            var container = $1.unkeyedContainer()
            try container.encode($0)
        },
        Ring("as a single value") {
            var container = $1.singleValueContainer()
            try container.encode($0)
        },
        Ring("as an optional by a key") {
            var container = $1.container(keyedBy: Value.Key.self)
            try container.encode([$0 as Ring.Value?], forKey: .next)
        },
        Ring("through a nested container") {
            var container = $1.container(keyedBy: Value.Key.self)
            var nested = container.nestedContainer(keyedBy: Value.Key.self, forKey: .a)
            try nested.encode($0, forKey: .next)
        },
        Ring("through a super encoder") {
            var container = $1.container(keyedBy: Value.Key.self)
            let encoder = container.superEncoder()
            var inner = encoder.container(keyedBy: Value.Key.self)
            try inner.encode($0, forKey: .next)
        },
    ]

    final class Person: Encodable, Sendable {
        let friend = Mutex<Person?>(nil)
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Value.Key.self)
            try container.encodeIfPresent(friend.withLock { $0 }, forKey: .next)
        }
    }

    @Test("A value that contains itself is refused, however it is encoded", arguments: rings)
    func cycle(_ ring: Ring) throws {
        #expect(try Self.refusal(ring.value).reason.contains("nested deeper than 64 levels"))
        #expect(try Self.refusal(One(ring.value)).reason.contains("nested deeper than 64 levels"))
    }

    @Test("A cycle of two objects is refused, and the error shows the beginning of its path")
    func objectCycle() throws {
        let person = Person()
        let other = Person()
        person.friend.withLock { $0 = other }
        other.friend.withLock { $0 = person }
        defer { other.friend.withLock { $0 = nil } }
        #expect(
            try Self.refusal(person).reason == #"the value at "next.next.next.next" is nested deeper than 64 levels"#
        )
    }

    /// Nests the leaf under `depth` keys.
    static func chain(_ depth: Int, to leaf: any Encodable & Sendable = 1) -> any Encodable & Sendable {
        (0..<depth).reduce(leaf) { (inner: any Encodable & Sendable, _) in
            Value { encoder in
                var container = encoder.container(keyedBy: Value.Key.self)
                try container.encode(inner, forKey: .a)
            }
        }
    }

    @Test("64 levels are encoded, and 65 are refused, also through nested containers")
    func depth() throws {
        let expected = "a" + String(repeating: "%5Ba%5D", count: 63) + "=1"
        #expect(try URLFormEncoder().encode(Self.chain(64)) == expected)
        #expect(try URLFormEncoder().encode(Self.chain(64, to: URLFormEncoderTests.Name("1"))) == expected)
        #expect(try Self.refusal(Self.chain(65)).reason.contains("64"))

        let containers = Value { encoder in
            var container = encoder.container(keyedBy: Value.Key.self)
            for _ in 0..<1_000 { container = container.nestedContainer(keyedBy: Value.Key.self, forKey: .a) }
        }
        #expect(try Self.refusal(containers).reason.contains("64"))
        #expect(throws: PipelineError.self) { try URLFormEncoder().encode(["x": containers]) }
    }

    @Test("Single-value wrappers add no level, and up to 64 may nest")
    func wrappers() throws {
        func wrapped(
            _ count: Int,
            around value: any Encodable & Sendable = "x"
        ) -> any Encodable & Sendable {
            (0..<count).reduce(value) { (inner: any Encodable & Sendable, _) in
                Value { encoder in
                    var container = encoder.singleValueContainer()
                    try container.encode(inner)
                }
            }
        }
        #expect(try URLFormEncoder().encode(["a": One(erased(wrapped(60)))]) == "a%5Ba%5D=x")
        let levels = (0..<3).reduce(wrapped(40)) { (inner: any Encodable & Sendable, _) in
            One(erased(wrapped(40, around: One(erased(inner)))))
        }
        #expect(try URLFormEncoder().encode(levels) == "a" + String(repeating: "%5Ba%5D", count: 5) + "=x")
        #expect(try Self.refusal(["a": erased(wrapped(70))]).reason.contains("64"))
    }

    private func erased(_ value: any Encodable & Sendable) -> Value {
        Value { try value.encode(to: $0) }
    }
}
