import Foundation
import Pipeline
import TestSupport
import Testing

@Suite("JSONEncoding", .watched)
struct JSONEncodingTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let parameters: RequestParameters
        let json: String

        init(_ name: String, _ parameters: RequestParameters, _ json: String) {
            self.name = name
            self.parameters = parameters
            self.json = json
        }

        var testDescription: String { name }
    }

    enum Level: Int { case low = 1 }
    enum Sort: String { case newest }

    static let cases: [Case] = [
        Case("empty parameters are an empty object", [:], "{}"),
        Case("a string", ["a": "b"], #"{"a":"b"}"#),
        Case("a slash is escaped", ["a": "b/c"], #"{"a":"b\/c"}"#),
        Case("quotes, control characters, accents", ["a": "\"\n\u{1}é"], #"{"a":"\"\n\u0001é"}"#),
        Case("an integer", ["a": 1], #"{"a":1}"#),
        Case("a negative integer", ["a": Int64.min], #"{"a":-9223372036854775808}"#),
        Case("the largest unsigned integer", ["a": UInt64.max], #"{"a":18446744073709551615}"#),
        Case("a 128-bit integer", ["a": UInt128.max], #"{"a":340282366920938463463374607431768211455}"#),
        Case("a small integer type", ["a": Int8(5), "b": UInt8(1)], #"{"a":5,"b":1}"#),
        Case("a boolean is no number", ["a": true, "b": 1, "c": false, "d": 0], #"{"a":true,"b":1,"c":false,"d":0}"#),
        Case("a whole double has no fraction", ["a": 1.0, "b": 1.5], #"{"a":1,"b":1.5}"#),
        Case("a float is as short as it prints", ["a": Float(1.1)], #"{"a":1.1}"#),
        Case("a decimal is exact", ["a": Decimal(string: "0.1")], #"{"a":0.1}"#),
        Case(
            "a long decimal is exact",
            ["a": Decimal(string: "12345678901234567890.123456789")],
            #"{"a":12345678901234567890.123456789}"#
        ),
        Case("NSNull is null", ["a": NSNull()], #"{"a":null}"#),
        Case("an optional without a value drops its key", ["a": Int?.none, "b": 1], #"{"b":1}"#),
        Case("an optional inside an optional", ["a": Int??.some(.some(3)), "b": Int??.some(.none)], #"{"a":3}"#),
        Case("an optional of a string", ["a": String?.some("x")], #"{"a":"x"}"#),
        Case("an array keeps its order", ["a": [3, 1, 2]], #"{"a":[3,1,2]}"#),
        Case("nil in an array is null", ["a": [1, nil, 3] as [Int?]], #"{"a":[1,null,3]}"#),
        Case("an empty array and an empty object", ["a": [Int](), "b": [String: Int]()], #"{"a":[],"b":{}}"#),
        Case("arrays in arrays", ["a": [[1, 2], [3]]], #"{"a":[[1,2],[3]]}"#),
        Case(
            "a mixed array",
            ["a": [1, "two", true, 2.5, NSNull(), ["k": "v"]] as [any Sendable]],
            #"{"a":[1,"two",true,2.5,null,{"k":"v"}]}"#
        ),
        Case(
            "keys are sorted by code point at every level",
            ["b": 1, "B": 2, "a": ["z": 1, "Z": ["y": 1, "x": 2]] as [String: any Sendable], "a10": 3, "a9": 4],
            #"{"B":2,"a":{"Z":{"x":2,"y":1},"z":1},"a10":3,"a9":4,"b":1}"#
        ),
        Case(
            "objects in an array have sorted keys",
            ["a": [["d": 1, "c": 2], ["b": 3]]],
            #"{"a":[{"c":2,"d":1},{"b":3}]}"#
        ),
        Case("a date", ["a": Date(timeIntervalSince1970: 1_000_000_000)], #"{"a":"2001-09-09T01:46:40Z"}"#),
        Case("bytes are base64", ["a": Data([1, 2, 3])], #"{"a":"AQID"}"#),
        Case("a URL", ["a": URL(string: "https://h/p?q=1")], #"{"a":"https:\/\/h\/p?q=1"}"#),
        Case(
            "a UUID",
            ["a": UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))],
            #"{"a":"01020304-0506-0708-090A-0B0C0D0E0F10"}"#
        ),
        Case("raw values", ["a": Level.low, "b": Sort.newest], #"{"a":1,"b":"newest"}"#),
        Case("a substring", ["a": "x,y".split(separator: ",")[1]], #"{"a":"y"}"#),
    ]

    static func body(_ parameters: RequestParameters, _ encoding: JSONEncoding = .default) throws -> String {
        var request = try PipelineRequest(.post, url: "https://example.com/")
        try encoding.encode(parameters, into: &request)
        return String(decoding: try #require(request.body.bytes), as: UTF8.self)
    }

    @Test("M54 Parameters are encoded as the expected bytes", arguments: cases)
    func bytes(_ row: Case) throws {
        #expect(try Self.body(row.parameters) == row.json)
    }

    @Test("M54 Content-Type is set if absent and kept if present")
    func contentType() throws {
        var request = try PipelineRequest(.post, url: "https://example.com/")
        try JSONEncoding.default.encode(["a": 1], into: &request)
        #expect(request.headers[.contentType] == "application/json")

        try request.setHeader("application/vnd.api+json", for: .contentType)
        try JSONEncoding.default.encode(["a": 1], into: &request)
        #expect(request.headers[values: .contentType] == ["application/vnd.api+json"])
    }

    @Test("M55 Pretty printing indents and keeps the keys sorted")
    func prettyPrinted() throws {
        let json = try Self.body(["b": 1, "a": 2], .prettyPrinted)
        #expect(json == "{\n  \"a\" : 2,\n  \"b\" : 1\n}")
    }

    @Test("M57 Equal parameters give equal bytes, whatever their insertion order")
    func stableBytes() throws {
        var forwards: RequestParameters = [:]
        var backwards: RequestParameters = [:]
        for number in 0..<200 { forwards["key\(number)"] = number }
        for number in (0..<200).reversed() { backwards["key\(number)"] = number }
        #expect(try Self.body(forwards) == Self.body(backwards))
    }

    @Test("Keys are sorted at every level")
    func sortedKeys() throws {
        let parameters: RequestParameters = ["b": ["y": 1, "x": [2]] as [String: any Sendable], "a": "/"]
        #expect(try Self.body(parameters) == #"{"a":"\/","b":{"x":[2],"y":1}}"#)
    }

    @Test("The URL and the method are not changed")
    func touchesOnlyTheBody() throws {
        var request = try PipelineRequest(.delete, url: "https://example.com/a?b=c")
        try JSONEncoding.default.encode(["d": 1], into: &request)
        #expect(request.head.path == "/a?b=c")
        #expect(request.method == .delete)
    }

    struct Unencodable: Sendable {}

    static let refused: [(RequestParameters, String)] = [
        (["outer": ["inner": Unencodable()]], "outer.inner"),
        (["list": [1, Unencodable()] as [any Sendable]], "list.1"),
        (["infinite": Double.infinity], "infinite"),
        (["nan": Double.nan], "nan"),
        (["small": -Float.infinity], "small"),
        (["decimal": Decimal.nan], "decimal"),
        (["object": NSNumber(value: Double.infinity)], "object"),
        (["date": Date(timeIntervalSince1970: .infinity)], "date"),
        (["set": Set([1])], "set"),
        (["closure": { @Sendable () -> Int in 1 } as @Sendable () -> Int], "closure"),
    ]

    @Test("M56 A value that JSON cannot hold fails with a typed error that names its key", arguments: 0..<refused.count)
    func refusedValues(_ row: Int) throws {
        let (parameters, key) = Self.refused[row]
        let error = #expect(throws: PipelineError.self) { try Self.body(parameters) }
        #expect(error?.code == .encoding)
        #expect(error?.reason.contains("\"\(key)\"") == true)
    }

    static func nested(_ depth: Int) -> RequestParameters {
        (1..<depth).reduce(["leaf": 1]) { inner, _ in ["level": inner] }
    }

    @Test("A refused value leaves the request unchanged")
    func refusalLeavesRequest() throws {
        var request = try PipelineRequest(.post, url: "https://example.com/")
        #expect(throws: PipelineError.self) {
            try JSONEncoding.default.encode(["a": Unencodable()], into: &request)
        }
        #expect(request.body.isAbsent)
        #expect(request.headers.isEmpty)
    }
}
