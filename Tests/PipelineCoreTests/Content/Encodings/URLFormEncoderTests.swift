import Foundation
import Pipeline
import PipelineAPI
import TestSupport
import Testing

@Suite("URLFormEncoder", .watched)
struct URLFormEncoderTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let value: any Encodable & Sendable
        let text: String
        let encoder: URLFormEncoder

        init(
            _ name: String,
            _ value: any Encodable & Sendable,
            _ text: String,
            _ encoder: URLFormEncoder = URLFormEncoder()
        ) {
            testDescription = name
            self.value = value
            self.text = text
            self.encoder = encoder
        }
    }

    struct ListQuery: Encodable { var offset = 0, limit = 100 }
    struct One<Value: Encodable & Sendable>: Encodable, Sendable {
        var a: Value
        init(_ a: Value) { self.a = a }
    }
    struct Letters: Encodable {
        enum CodingKeys: String, CodingKey {
            case zeta
            case beta = "Beta"
            case alpha
            case a10
            case a9
        }
        var zeta = 1, beta = 2, alpha = 3, a10 = 4, a9 = 5
    }
    struct Outer: Encodable {
        struct Inner: Encodable { var z = 1, deep = Deep() }
        struct Deep: Encodable { var y = "x y" }
        var second = Inner(), first = [Inner(), Inner()]
    }
    struct Optionals: Encodable {
        var a: Int?, b: Int? = 1, c: [Int?] = [1, nil, 3], d: [String: Int?] = ["x": nil, "y": 2]
        var e: Int?? = .some(.none)
    }
    struct Explicit: Encodable {
        enum CodingKeys: CodingKey { case a, b }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encodeNil(forKey: .a)
            try container.encode(Int?.none, forKey: .b)
        }
    }
    struct Nothing: Encodable {
        func encode(to encoder: any Encoder) throws {}
    }
    struct Texts: Encodable {
        var data = Data([0xfb, 0xff]), url = URL(string: "https://h/p?q=1"), decimal = Decimal(string: "0.10")
        var uuid = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))
    }
    struct Numbers: Encodable {
        var whole = 1.0, part = 1.5, float = Float(1.1), wholeFloat = Float(-2), half = Float16(0.5)
        var least = Int64.min, most = UInt64.max, wide = Int128.min, unsigned = UInt128.max, byte = UInt8(1)
        var large = 1e20
    }
    struct Name: Encodable, Hashable {
        let text: String
        init(_ text: String) { self.text = text }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(text)
        }
    }
    enum Sort: String, Encodable { case newest, oldest }
    enum Side: String, Encodable, CodingKeyRepresentable { case left, right }

    static let eleven = Dictionary(uniqueKeysWithValues: "kbjaeifhgdc".map { (String($0), 1) })
    static let inOrder = "abcdefghijk"

    static let cases: [Case] = [
        Case("ruling 4: a value's members come as they are declared", ListQuery(), "offset=0&limit=100"),
        Case("B-C15 declaration order, not that of the alphabet", Letters(), "zeta=1&Beta=2&alpha=3&a10=4&a9=5"),
        Case(
            "B-C16 values in values, and in arrays",
            Outer(),
            "second%5Bz%5D=1&second%5Bdeep%5D%5By%5D=x%20y"
                + "&first%5B%5D%5Bz%5D=1&first%5B%5D%5Bdeep%5D%5By%5D=x%20y"
                + "&first%5B%5D%5Bz%5D=1&first%5B%5D%5Bdeep%5D%5By%5D=x%20y"
        ),
        Case("B-A2 elements keep their order", One([10, 2, 1]), "a%5B%5D=10&a%5B%5D=2&a%5B%5D=1"),
        Case(
            "elements without brackets",
            One(["b", "a"]),
            "a=b&a=a",
            URLFormEncoder(arrayEncoding: .noBrackets)
        ),
        Case(
            "elements with indices, in arrays of arrays",
            One([["a"], ["b", "c"]]),
            "a%5B0%5D%5B0%5D=a&a%5B1%5D%5B0%5D=b&a%5B1%5D%5B1%5D=c",
            URLFormEncoder(arrayEncoding: .indexInBrackets)
        ),
        Case(
            "elements with names of one's own",
            One(["x", "y"]),
            "a.1=x&a.2=y",
            URLFormEncoder(arrayEncoding: .custom { "\($0).\($1 + 1)" })
        ),
        Case("an optional without a value drops its key", Optionals(), "b=1&c%5B%5D=1&c%5B%5D=3&d%5By%5D=2"),
        Case(
            "an element without a value keeps its index",
            One([1, nil, 3] as [Int?]),
            "a%5B0%5D=1&a%5B2%5D=3",
            URLFormEncoder(arrayEncoding: .indexInBrackets)
        ),
        Case("a nil that is encoded drops its key", Explicit(), ""),
        Case("an optional at the top gives nothing or what it holds", ListQuery?.none, ""),
        Case(
            "an optional at the top gives nothing or what it holds",
            ListQuery?.some(ListQuery()),
            "offset=0&limit=100"
        ),
        Case("a value that encodes nothing gives nothing", Nothing(), ""),
        Case("a value that encodes nothing gives nothing inside either", One(Nothing()), ""),
        Case("empty collections add nothing", One([[Int]()]), ""),
        Case("empty collections add nothing, in dictionaries either", ["a": [String: Int](), "b": [:]], ""),
        Case("a boolean is 1 or 0, a number never is a boolean", One([true, false]), "a%5B%5D=1&a%5B%5D=0"),
        Case(
            "a boolean is true or false on request",
            ["a": One(true)],
            "a%5Ba%5D=true",
            URLFormEncoder(boolEncoding: .literal)
        ),
        Case("the numbers 1 and 0 are no booleans", One([1, 0]), "a%5B%5D=1&a%5B%5D=0", .init(boolEncoding: .literal)),
        Case(
            "numbers are as short as they print, a whole one without a fraction",
            Numbers(),
            "whole=1&part=1.5&float=1.1&wholeFloat=-2&half=0.5&least=-9223372036854775808&most=18446744073709551615"
                + "&wide=-170141183460469231731687303715884105728"
                + "&unsigned=340282366920938463463374607431768211455&byte=1&large=1e%2B20"
        ),
        Case("numbers of 128 bits in arrays", One([Int128(-3)]), "a%5B%5D=-3"),
        Case("numbers of 128 bits in arrays, unsigned", One([UInt128(3)]), "a%5B%5D=3"),
        Case("numbers of 128 bits in dictionaries", ["a": Int128(-3)], "a=-3"),
        Case("numbers of 128 bits in optionals", ["a": [Int128?.some(-3)]], "a%5B%5D=-3"),
        Case("numbers of 128 bits in optionals, unsigned", ["a": [UInt128?.some(3)]], "a%5B%5D=3"),
        Case(
            "bytes are base64; a URL, a UUID and a decimal are their text",
            Texts(),
            "data=%2B/8%3D&url=https%3A//h/p?q%3D1&decimal=0.1&uuid=01020304-0506-0708-090A-0B0C0D0E0F10"
        ),
        Case("raw values, and types that encode as one value", ["a": [Sort.newest]], "a%5B%5D=newest"),
        Case("a type that encodes as one value", One(Name("x")), "a=x"),
        Case(
            "B-C14 names and values are escaped whole",
            ["a&b=c+d[": "e&f=g+h %ü"],
            "a%26b%3Dc%2Bd%5B=e%26f%3Dg%2Bh%20%25%C3%BC"
        ),
        Case("B-A1 a dictionary is sorted at the top", eleven, inOrder.map { "\($0)=1" }.joined(separator: "&")),
        Case(
            "B-A1 a dictionary is sorted inside",
            One(eleven),
            inOrder.map { "a%5B\($0)%5D=1" }.joined(separator: "&")
        ),
        Case("upper case comes first", ["b": 1, "B": 2, "a": 3], "B=2&a=3&b=1"),
        Case("a dictionary by integers is sorted by their text", [10: "a", 9: "b", 1: "c"], "1=c&10=a&9=b"),
        Case("a dictionary by keys that are text", [Side.right: 1, .left: 2], "left=2&right=1"),
        Case(
            "a dictionary that encodes as an array is sorted by its keys",
            One([Sort.oldest: 1, .newest: 2]),
            "a%5B%5D=newest&a%5B%5D=2&a%5B%5D=oldest&a%5B%5D=1"
        ),
        Case(
            "a set is sorted, numbers by value",
            One(Set([100, 20, 3, -4])),
            "a%5B%5D=-4&a%5B%5D=3&a%5B%5D=20&a%5B%5D=100"
        ),
        Case("a set of fractions is sorted by value", One(Set([10.5, 9, -1])), "a%5B%5D=-1&a%5B%5D=9&a%5B%5D=10.5"),
        Case(
            "a set is sorted, text as text",
            One(Set("kbjaeifhgdc".map { Name(String($0)) })),
            inOrder.map { "a%5B%5D=\($0)" }.joined(separator: "&")
        ),
    ]

    @Test("A value is encoded as the expected pairs", arguments: cases)
    func text(_ row: Case) throws {
        #expect(try row.encoder.encode(row.value) == row.text)
    }

    @Test("All settings default to those of URLEncoding and can be changed")
    func defaults() throws {
        struct Everything: Encodable {
            var pageSize = [true], date = Date(timeIntervalSince1970: 1_000_000_000)
        }
        var encoder = URLFormEncoder()
        #expect(try encoder.encode(Everything()) == "pageSize%5B%5D=1&date=2001-09-09T01%3A46%3A40Z")
        encoder.arrayEncoding = .noBrackets
        encoder.boolEncoding = .literal
        encoder.dateEncoding = .secondsSince1970
        encoder.keyEncoding = .convertToSnakeCase
        #expect(try encoder.encode(Everything()) == "page_size=true&date=1000000000")
    }

    @Test(
        "A date is written in the format of its encoding at every level",
        arguments: [
            (DateCodingStrategy.TextEncoding.iso8601, "1970-01-01T00%3A00%3A01Z"), (.secondsSince1970, "1.5"),
            (.millisecondsSince1970, "1500"), (.custom { "\(Int($0.timeIntervalSince1970 * 10))s" }, "15s"),
        ]
    )
    func dates(_ encoding: DateCodingStrategy.TextEncoding, _ text: String) throws {
        let date = Date(timeIntervalSince1970: 1.5)
        let encoder = URLFormEncoder(dateEncoding: encoding)
        #expect(try encoder.encode(["d": date]) == "d=\(text)")
        #expect(try encoder.encode(One([date])) == "a%5B%5D=\(text)")
        #expect(try encoder.encode(One(One(Date?.some(date)))) == "a%5Ba%5D=\(text)")
    }

    @Test("URLEncoding and URLFormEncoder give the same text for a dictionary")
    func likeURLEncoding() throws {
        let parameters = ["b": ["y": [1, 2], "x": []], "a": ["z": [3]]]
        var request = try PipelineRequest(url: "https://h/p")
        try URLEncoding.queryString.encode(parameters, into: &request)
        #expect(try request.query == URLFormEncoder().encode(parameters))
    }
}
