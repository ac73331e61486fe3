import Foundation
import Pipeline
import TestSupport
import Testing

@Suite("URLEncoding", .watched)
struct URLEncodingTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let parameters: RequestParameters
        let query: String?
        var encoding = URLEncoding.queryString

        init(_ name: String, _ parameters: RequestParameters, _ query: String?, _ encoding: URLEncoding = .queryString)
        {
            self.name = name
            self.parameters = parameters
            self.query = query
            self.encoding = encoding
        }

        var testDescription: String { name }
    }

    enum Level: Int { case low = 1 }

    static let noBrackets = URLEncoding(destination: .queryString, arrayEncoding: .noBrackets)
    static let indexed = URLEncoding(destination: .queryString, arrayEncoding: .indexInBrackets)
    static let dotted = URLEncoding(destination: .queryString, arrayEncoding: .custom { "\($0).\($1 + 1)" })
    static let literal = URLEncoding(destination: .queryString, boolEncoding: .literal)
    static let mixed: RequestParameters = ["foo": ["a", 1, true] as [any Sendable]]
    static let deep: RequestParameters = ["foo": ["bar": ["baz": ["a", 1, true] as [any Sendable]]]]

    static let cases: [Case] = [
        Case("one string", ["foo": "bar"], "foo=bar"),
        Case("M39 keys are sorted by code point, upper case first", ["b": 1, "a": 2, "B": 3], "B=3&a=2&b=1"),
        Case("M39 numbers in keys are not counted", ["a10": 1, "a9": 2], "a10=1&a9=2"),
        Case("M40 a dictionary", ["foo": ["bar": 1]], "foo%5Bbar%5D=1"),
        Case("M40 a dictionary two levels deep", ["foo": ["bar": ["baz": 1]]], "foo%5Bbar%5D%5Bbaz%5D=1"),
        Case("B-A1 nested keys are sorted too", ["f": ["z": 1, "a": 2, "M": 3]], "f%5BM%5D=3&f%5Ba%5D=2&f%5Bz%5D=1"),
        Case("M41 an array with brackets", mixed, "foo%5B%5D=a&foo%5B%5D=1&foo%5B%5D=1"),
        Case("M42 an array without brackets", mixed, "foo=a&foo=1&foo=1", noBrackets),
        Case("M43 an array with indices", mixed, "foo%5B0%5D=a&foo%5B1%5D=1&foo%5B2%5D=1", indexed),
        Case("M44 an array with names of one's own", mixed, "foo.1=a&foo.2=1&foo.3=1", dotted),
        Case(
            "M45 an array in dictionaries",
            deep,
            "foo%5Bbar%5D%5Bbaz%5D%5B%5D=a&foo%5Bbar%5D%5Bbaz%5D%5B%5D=1&foo%5Bbar%5D%5Bbaz%5D%5B%5D=1"
        ),
        Case(
            "M45 an array in dictionaries without brackets",
            deep,
            "foo%5Bbar%5D%5Bbaz%5D=a&foo%5Bbar%5D%5Bbaz%5D=1&foo%5Bbar%5D%5Bbaz%5D=1",
            noBrackets
        ),
        Case("M46 an array of arrays", ["foo": [["a"], ["b"]]], "foo%5B%5D%5B%5D=a&foo%5B%5D%5B%5D=b"),
        Case(
            "an array of dictionaries with indices",
            ["f": [["a": 1], ["b": 2]]],
            "f%5B0%5D%5Ba%5D=1&f%5B1%5D%5Bb%5D=2",
            indexed
        ),
        Case("B-A2 elements keep their order", ["a": [10, 2, 1]], "a%5B%5D=10&a%5B%5D=2&a%5B%5D=1"),
        Case("M47 B-A3 an empty array leaves no question mark", ["a": [Int]()], nil),
        Case("M47 B-A3 an empty dictionary leaves no question mark", ["a": [String: Int]()], nil),
        Case("M47 empty collections inside collections", ["a": [[Int]()], "b": ["c": [Int]()]], nil),
        Case("M48 a boolean is 1 or 0", ["a": true, "b": false], "a=1&b=0"),
        Case(
            "M48 a boolean is true or false on request",
            ["a": true, "b": false, "c": 1],
            "a=true&b=false&c=1",
            literal
        ),
        Case("M48 the integers 1 and 0 are never booleans", ["a": 1, "b": 0, "c": UInt8(1)], "a=1&b=0&c=1", literal),
        Case(
            "M48 a number object keeps its kind",
            ["a": NSNumber(value: true), "b": NSNumber(value: 1)],
            "a=true&b=1",
            literal
        ),
        Case(
            "M49 B-A4 a whole double has no fraction",
            ["a": 1.0, "b": 1.1, "c": -2.0, "d": -0.0],
            "a=1&b=1.1&c=-2&d=0"
        ),
        Case("a large double", ["a": 1e15, "b": 1e20], "a=1000000000000000&b=1e%2B20"),
        Case("a float is as short as it prints", ["a": Float(1.1)], "a=1.1"),
        Case(
            "integers of all sizes",
            ["a": Int64.min, "b": UInt64.max],
            "a=-9223372036854775808&b=18446744073709551615"
        ),
        Case("a decimal", ["a": Decimal(string: "12345678901234567890.01")], "a=12345678901234567890.01"),
        Case("M50 nil drops its key", ["a": Int?.none, "b": Int?.some(1)], "b=1"),
        Case("M50 NSNull drops its key", ["a": NSNull(), "b": ["c": NSNull()]], nil),
        Case("M50 a date", ["at": Date(timeIntervalSince1970: 1_000_000_000)], "at=2001-09-09T01%3A46%3A40Z"),
        Case(
            "a date in seconds",
            ["at": Date(timeIntervalSince1970: 1.5)],
            "at=1.5",
            URLEncoding(destination: .queryString, dateEncoding: .secondsSince1970)
        ),
        Case("a raw value", ["a": Level.low], "a=1"),
        Case("an empty value and an empty key", ["a": "", "": "b"], "=b&a="),
        Case("M51 unreserved characters, slash and question mark stay", ["a": "AZaz09-._~/?"], "a=AZaz09-._~/?"),
        Case(
            "M51 delimiters are encoded",
            ["a": ":#[]@!$&'()*+,;="],
            "a=%3A%23%5B%5D%40%21%24%26%27%28%29%2A%2B%2C%3B%3D"
        ),
        Case("M51 what no URL may hold is encoded", ["a": "\"<>\\^`{|} %"], "a=%22%3C%3E%5C%5E%60%7B%7C%7D%20%25"),
        Case("M51 a percent sign is encoded once, always", ["a": "50%25"], "a=50%2525"),
        Case("M51 plus is %2B and space %20, in keys too", ["a b+c": "d e+f"], "a%20b%2Bc=d%20e%2Bf"),
        Case("M51 other alphabets", ["é": "漢字👍"], "%C3%A9=%E6%BC%A2%E5%AD%97%F0%9F%91%8D"),
        Case("Q04 control characters are encoded", ["a\r\n": "b\r\nX: y\u{0}\u{7f}"], "a%0D%0A=b%0D%0AX%3A%20y%00%7F"),
    ]

    static func request(
        _ method: HTTPRequest.Method = .get,
        _ url: String = "https://example.com/p"
    ) throws -> PipelineRequest {
        try PipelineRequest(method, url: url)
    }

    @Test("Parameters are encoded as the expected query", arguments: cases)
    func query(_ row: Case) throws {
        var request = try Self.request()
        try row.encoding.encode(row.parameters, into: &request)
        #expect(request.query == row.query)
        #expect(request.head.path == "/p" + (row.query.map { "?" + $0 } ?? ""))
        #expect(request.headers.isEmpty)
        #expect(request.body.isAbsent)
    }

    @Test("Parameters are encoded as the same text in a form body", arguments: cases)
    func form(_ row: Case) throws {
        var request = try Self.request(.post)
        var encoding = row.encoding
        encoding.destination = .httpBody
        try encoding.encode(row.parameters, into: &request)
        #expect(request.body.bytes == Data((row.query ?? "").utf8))
        #expect(request.head.path == "/p")
    }

    @Test(
        "M33 GET, HEAD and DELETE send parameters in the query, every other method in a form",
        arguments: [
            (HTTPRequest.Method.get, true), (.head, true), (.delete, true), (.post, false), (.put, false),
            (.patch, false),
            (.options, false), (.trace, false), (.connect, false),
        ]
    )
    func methodDependent(_ method: HTTPRequest.Method, _ isQuery: Bool) throws {
        var request = try Self.request(method)
        try URLEncoding.default.encode(["a": 1], into: &request)
        #expect(request.query == (isQuery ? "a=1" : nil))
        #expect(request.body.isAbsent == isQuery)
        #expect(request.headers.contains(.contentType) != isQuery)

        request = try Self.request(method)
        try URLEncoding.queryString.encode(["a": 1], into: &request)
        #expect(request.query == "a=1")

        request = try Self.request(method)
        try URLEncoding.httpBody.encode(["a": 1], into: &request)
        #expect(request.body.bytes == Data("a=1".utf8))
    }

    @Test("M35 Empty parameters leave the query unchanged")
    func emptyQuery() throws {
        var request = try Self.request(.get, "https://example.com/p?a=b")
        try URLEncoding.queryString.encode([:], into: &request)
        #expect(request.head.path == "/p?a=b")
    }

    @Test("M36 Empty parameters make an empty form body, not an absent one")
    func emptyForm() throws {
        var request = try Self.request(.post)
        try URLEncoding.httpBody.encode([:], into: &request)
        #expect(request.body.bytes == Data())
        #expect(!request.body.isAbsent)
        #expect(request.headers[.contentType] == "application/x-www-form-urlencoded; charset=utf-8")
    }

    @Test("M38 A form sets Content-Type only if it is absent")
    func formContentType() throws {
        var request = try Self.request(.post)
        try request.setHeader("text/plain", for: .contentType)
        try URLEncoding.httpBody.encode(["a": 1], into: &request)
        #expect(request.headers[values: .contentType] == ["text/plain"])
    }

    @Test(
        "M37 Parameters are appended to an existing query",
        arguments: [
            ("https://h/p?baz=qux", "/p?baz=qux&foo=bar"), ("https://h/p?", "/p?foo=bar"),
            ("https://h/p?a&", "/p?a&foo=bar"), ("https://h", "/?foo=bar"), ("https://h?a=b", "/?a=b&foo=bar"),
            ("https://h/p?hd=[1]", "/p?hd=%5B1%5D&foo=bar"), ("https://h/p?a=%20+#f", "/p?a=%20+&foo=bar"),
            ("https://h/p?a=?", "/p?a=?&foo=bar"),
        ]
    )
    func existingQuery(_ url: String, _ path: String) throws {
        var request = try Self.request(.get, url)
        try URLEncoding.queryString.encode(["foo": "bar"], into: &request)
        #expect(request.head.path == path)
    }

    @Test("Appending an empty string to a query changes nothing", arguments: ["/p", "/p?", "/p?a=b"])
    func appendNothing(_ path: String) throws {
        var request = try Self.request(.get, "https://h" + path)
        request.appendQuery("")
        #expect(request.head.path == path)
    }

    struct Unencodable: Sendable {}

    static let refused: [(RequestParameters, String)] = [
        (["a": ["b": Unencodable()]], "a.b"), (["a": Double.nan], "a"), (["a": ["x": Float.infinity]], "a.x"),
        (["a": Set([1])], "a"), (["a": Date(timeIntervalSinceReferenceDate: .nan)], "a"),
        (JSONEncodingTests.nested(65), "level.level.level.level"),
    ]

    @Test("A value without a text form fails with a typed error that names its key", arguments: 0..<refused.count)
    func refusedValues(_ row: Int) throws {
        let (parameters, key) = Self.refused[row]
        for destination in [URLEncoding.Destination.queryString, .httpBody] {
            var request = try Self.request()
            let error = #expect(throws: PipelineError.self) {
                try URLEncoding(destination: destination).encode(parameters, into: &request)
            }
            #expect(error?.code == .encoding)
            #expect(error?.reason.contains("\"\(key)\"") == true)
            #expect(request.head.path == "/p")
            #expect(request.body.isAbsent)
        }
    }
}
