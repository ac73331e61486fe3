import Foundation
import Pipeline
import TestSupport
import Testing

@Suite("PropertyListEncoding", .watched)
struct PropertyListEncodingTests {
    enum Sort: String { case newest }

    static func body(_ parameters: RequestParameters, _ encoding: PropertyListEncoding = .xml) throws -> Data {
        var request = try PipelineRequest(.post, url: "https://example.com/a?b=c")
        try encoding.encode(parameters, into: &request)
        #expect(request.head.path == "/a?b=c")
        return try #require(request.body.bytes)
    }

    /// The lines between the outer `<dict>` and `</dict>`.
    static func lines(_ parameters: RequestParameters) throws -> [String] {
        let text = String(decoding: try body(parameters), as: UTF8.self)
        #expect(text.hasPrefix("<?xml version=\"1.0\""))
        let lines = text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
        return Array(lines.drop { $0 != "<dict>" }.dropFirst().dropLast(2))
    }

    static let date = Date(timeIntervalSince1970: 1_000_000_000)

    static let cases: [(RequestParameters, [String])] = [
        (["a": "b<&"], ["<key>a</key>", "<string>b&lt;&amp;</string>"]),
        (["a": 1], ["<key>a</key>", "<integer>1</integer>"]),
        (["a": Int64.min], ["<key>a</key>", "<integer>-9223372036854775808</integer>"]),
        (["a": UInt64.max], ["<key>a</key>", "<integer>18446744073709551615</integer>"]),
        (["a": Int128(5)], ["<key>a</key>", "<integer>5</integer>"]),
        (["a": 1.0], ["<key>a</key>", "<real>1</real>"]),
        (["a": Float(1.1)], ["<key>a</key>", "<real>1.1</real>"]),
        (["a": Decimal(string: "2.5")], ["<key>a</key>", "<real>2.5</real>"]),
        (["a": Decimal(3)], ["<key>a</key>", "<integer>3</integer>"]),
        (["a": true], ["<key>a</key>", "<true/>"]),
        (["a": date], ["<key>a</key>", "<date>2001-09-09T01:46:40Z</date>"]),
        (["a": Data([1, 2, 3])], ["<key>a</key>", "<data>", "AQID", "</data>"]),
        (["a": Sort.newest], ["<key>a</key>", "<string>newest</string>"]),
        (["a": Int?.none, "b": "x"], ["<key>b</key>", "<string>x</string>"]),
        (["a": [String: Int]()], ["<key>a</key>", "<dict/>"]),
        (["a": [2, 1]], ["<key>a</key>", "<array>", "<integer>2</integer>", "<integer>1</integer>", "</array>"]),
        (
            ["b": ["y": 1, "x": 2], "B": "c"],
            [
                "<key>B</key>", "<string>c</string>", "<key>b</key>", "<dict>", "<key>x</key>", "<integer>2</integer>",
                "<key>y</key>", "<integer>1</integer>", "</dict>",
            ]
        ),
    ]

    @Test("M32 Parameters are encoded as the expected XML", arguments: 0..<cases.count)
    func xml(_ row: Int) throws {
        #expect(try Self.lines(Self.cases[row].0) == Self.cases[row].1)
    }

    @Test(
        "Dates and bytes keep their types in both formats",
        arguments: [false, true]
    )
    func readBack(isBinary: Bool) throws {
        let encoding: PropertyListEncoding = isBinary ? .binary : .xml
        let part = isBinary ? 0.25 : 0
        let date = Self.date.addingTimeInterval(part)
        let parameters: RequestParameters = [
            "date": date, "data": Data([0, 255]), "list": [1, "zwei", 2.5, [date]] as [any Sendable],
        ]
        let bytes = try Self.body(parameters, encoding)
        #expect(bytes.starts(with: isBinary ? Data("bplist00".utf8) : Data("<?xml".utf8)))
        let list = try PropertyListSerialization.propertyList(from: bytes, format: nil)
        let members = try #require(list as? [String: Any])
        #expect(members["date"] as? Date == date)
        #expect(members["data"] as? Data == Data([0, 255]))
        let elements = try #require(members["list"] as? [Any])
        #expect(elements[0] as? Int == 1)
        #expect(elements[1] as? String == "zwei")
        #expect(elements[2] as? Double == 2.5)
        #expect(elements[3] as? [Date] == [date])
    }

    @Test("XML truncates a date to the second")
    func seconds() throws {
        let lines = try Self.lines(["a": Self.date.addingTimeInterval(0.9)])
        #expect(lines == ["<key>a</key>", "<date>2001-09-09T01:46:40Z</date>"])
    }

    @Test("Each encoding writes its own format")
    func formats() throws {
        #expect(try Self.body(["a": 1], .xml).starts(with: Data("<?xml ".utf8)))
        #expect(try Self.body(["a": 1], .binary).starts(with: Data("bplist00".utf8)))
    }

    @Test("Content-Type is set if absent and kept if present")
    func contentType() throws {
        var request = try PipelineRequest(.post, url: "https://example.com/")
        try PropertyListEncoding.xml.encode([:], into: &request)
        #expect(request.headers[values: .contentType] == ["application/x-plist"])
        try request.setHeader("a/b", for: .contentType)
        try PropertyListEncoding.binary.encode([:], into: &request)
        #expect(request.headers[values: .contentType] == ["a/b"])
    }

    @Test(
        "Equal parameters give equal bytes, whatever their insertion order",
        arguments: [PropertyListEncoding.xml, .binary]
    )
    func stableBytes(_ encoding: PropertyListEncoding) throws {
        var forwards: [String: Int] = [:]
        var backwards: [String: Int] = [:]
        backwards.reserveCapacity(1_000)
        for number in 0..<200 { forwards["key\(number)"] = number }
        for number in (0..<200).reversed() { backwards["key\(number)"] = number }
        #expect(try Self.body(["a": forwards], encoding) == Self.body(["a": backwards], encoding))
    }

    static let refused: [(RequestParameters, String)] = [
        (["a": ["b": NSNull()]], #""a.b" is null"#),
        (["a": [1, nil] as [Int?]], #""a.1" is null"#),
        (["a": UInt128.max], #""a" is an integer of more than 64 bits"#),
        (["a": Decimal(string: "18446744073709551616")], #""a" is an integer of more than 64 bits"#),
        (["a": Double.nan], #""a" is not a finite number"#),
        (["a": Date(timeIntervalSinceReferenceDate: .infinity)], #""a" is not a finite date"#),
        (["a": Set([1])], #""a" is of type"#),
        (JSONEncodingTests.nested(65), "64 levels"),
    ]

    @Test("A value that a property list cannot hold fails, and the error names its key", arguments: 0..<refused.count)
    func refusedValues(_ row: Int) throws {
        for encoding in [PropertyListEncoding.xml, .binary] {
            var request = try PipelineRequest(.post, url: "https://example.com/")
            let error = #expect(throws: PipelineError.self) { try encoding.encode(Self.refused[row].0, into: &request) }
            #expect(error?.code == .encoding)
            #expect(error?.reason.contains(Self.refused[row].1) == true)
            #expect(request.body.isAbsent)
            #expect(request.headers.isEmpty)
        }
    }

    static let binaryOnly: [(RequestParameters, String)] = [
        (["a": ["x\u{1}"]], #""a.0" is a text with"#), (["a": "\u{b}"], #""a" is a text with"#),
        (["a": "\u{fffe}"], #""a" is a text with"#), (["a": "\u{ffff}"], #""a" is a text with"#),
        (["a\u{1}": 1], " is a text with"),
        (["a": Date(timeIntervalSince1970: 253_402_300_800)], #""a" is a date outside"#),
        (["a": Date(timeIntervalSince1970: -1e12)], #""a" is a date outside"#),
    ]

    @Test("A value that only XML cannot hold is refused in XML and written in binary", arguments: 0..<binaryOnly.count)
    func refusedByXML(_ row: Int) throws {
        let (parameters, reason) = Self.binaryOnly[row]
        let error = #expect(throws: PipelineError.self) { try Self.body(parameters) }
        #expect(error?.code == .encoding)
        #expect(error?.reason.contains(reason) == true)
        let list = try PropertyListSerialization.propertyList(from: Self.body(parameters, .binary), format: nil)
        #expect((list as? [String: Any])?.keys.first == parameters.keys.first)
    }

    @Test("Text that XML can hold is written", arguments: ["\t\r\n", " ", "\u{7f}", "\u{fffd}", "\u{1fffe}", "👍", ""])
    func texts(_ text: String) throws {
        let list = try PropertyListSerialization.propertyList(from: Self.body(["a": text]), format: nil)
        #expect((list as? [String: String])?["a"] == text)
    }

    @Test(
        "The first and the last date of XML read back unchanged",
        arguments: [Date.distantPast, Date(timeIntervalSince1970: 253_402_300_799)]
    )
    func outermostDates(_ date: Date) throws {
        #expect(try PropertyListDecoder().decode([String: Date].self, from: Self.body(["a": date])) == ["a": date])
    }
}
