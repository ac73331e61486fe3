import Foundation
import Pipeline
import TestSupport
import Testing

@Suite("PipelineResponse: filtering and mapping", .watched)
struct PipelineResponseMappingTests {
    struct Issue: Codable, Sendable, Equatable {
        var title: String?
        var rating: Double?
    }

    static func code(_ run: () throws -> Void) -> PipelineError.Code? {
        do { try run() } catch { return (error as? PipelineError)?.code }
        return nil
    }

    // MARK: mapJSON

    @Test("M135 Any JSON value maps, not just objects")
    func json() throws {
        #expect(
            try makeResponse(200, #"{"a":[1,null]}"#).mapJSON() as? NSDictionary == ["a": [1, NSNull()] as NSArray]
        )
        #expect(try makeResponse(200, "[1,2]").mapJSON() as? [Int] == [1, 2])
        #expect(try makeResponse(200, #""text""#).mapJSON() as? String == "text")
        #expect(try makeResponse(200, "12").mapJSON() as? Int == 12)
        #expect(try makeResponse(200, "null").mapJSON() is NSNull)
    }

    @Test("M135 A non-JSON body throws an error with the response", arguments: ["", " ", "<html>", "{", "{\"a\":}"])
    func notJSON(_ body: String) throws {
        let error = #expect(throws: PipelineError.self) { try makeResponse(200, body).mapJSON() }
        #expect(error?.code == .mapping(.json))
        #expect(error?.response?.data == Data(body.utf8))
    }

    @Test("M135 An empty body maps to NSNull on request; a blank one does not")
    func emptyJSON() throws {
        #expect(try makeResponse(204).mapJSON(failsOnEmptyData: false) is NSNull)
        #expect(Self.code { _ = try makeResponse(204, " ").mapJSON(failsOnEmptyData: false) } == .mapping(.json))
    }

    // MARK: mapString

    static let texts: [(String?, [UInt8], String?)] = [
        (nil, [0x61, 0xc3, 0xa9], "aé"), (nil, [], ""), (nil, [0xff], nil), ("text/plain", [0xe9], nil),
        ("text/plain; charset=utf-8", [0xc3, 0xa9], "é"), ("text/plain;charset=UTF-8", [0xc3, 0xa9], "é"),
        ("text/plain; charset=\"utf-8\"", [0xc3, 0xa9], "é"), ("text/plain; charset=ISO-8859-1", [0xe9], "é"),
        ("text/html; v=1; Charset=latin1", [0xe9], "é"), ("text/plain; charset=windows-1252", [0x80], "€"),
        ("text/plain; charset=us-ascii", [0x61], "a"), ("text/plain; charset=us-ascii", [0xe9], nil),
        ("text/plain; charset=utf-16le", [0x61, 0x00], "a"), ("text/plain; charset=utf-16be", [0x00, 0x61], "a"),
        ("text/plain; charset=utf-16", [0xfe, 0xff, 0x00, 0x61], "a"), ("text/plain; charset=klingon", [0x61], nil),
        ("", [0x61], "a"), (";;=", [0x61], "a"),
    ]

    @Test("M136 B-M31 A body is decoded in its charset, or in UTF-8 by default", arguments: 0..<texts.count)
    func text(_ row: Int) throws {
        let (contentType, bytes, text) = Self.texts[row]
        var response = try makeResponse(200, "", contentType: contentType)
        response.body = .bytes(Data(bytes))
        if let text {
            #expect(try response.mapString() == text)
        } else {
            #expect(Self.code { _ = try response.mapString() } == .mapping(.string))
        }
    }

    @Test("The error for an unknown charset names it")
    func unknownCharset() throws {
        let response = try makeResponse(200, "a", contentType: "text/plain; charset=klingon")
        let error = #expect(throws: PipelineError.self) { try response.mapString() }
        #expect(error?.reason.contains("\"klingon\"") == true)
    }

    @Test("M137 A string at a key path maps; anything else there fails with a typed error")
    func stringAtKeyPath() throws {
        let response = try makeResponse(200, #"{"a":{"b":"x","n":1},"list":["y"]}"#)
        #expect(try response.mapString(atKeyPath: "a.b") == "x")
        #expect(try response.mapString(atKeyPath: "list.0") == "y")
        #expect(Self.code { _ = try response.mapString(atKeyPath: "a.n") } == .mapping(.string))
        #expect(Self.code { _ = try response.mapString(atKeyPath: "a") } == .mapping(.string))
        #expect(Self.code { _ = try response.mapString(atKeyPath: "a.c") } == .mapping(.keyPath))
        #expect(Self.code { _ = try makeResponse(200, "<html>").mapString(atKeyPath: "a") } == .mapping(.json))
        #expect(Self.code { _ = try makeResponse().mapString(atKeyPath: "a") } == .mapping(.json))
    }

    static let failures: [(String, String, PipelineError.Code.Mapping, @Sendable (PipelineResponse) throws -> Void)] = [
        ("JSON", "<html>", .json, { _ = try $0.mapJSON() }),
        ("text", "a", .string, { _ = try $0.mapString() }),
        ("a string at a key path, of no JSON", "<html>", .json, { _ = try $0.mapString(atKeyPath: "a") }),
        ("a string at a key path, missing", "{}", .keyPath, { _ = try $0.mapString(atKeyPath: "a") }),
        ("a string at a key path, a number", #"{"a":1}"#, .string, { _ = try $0.mapString(atKeyPath: "a") }),
        ("a value", "[]", .object, { _ = try $0.map(Issue.self) }),
        ("a value at a key path, of no JSON", "<html>", .json, { _ = try $0.map(Issue.self, atKeyPath: "a") }),
        ("a value at a key path, missing", "{}", .keyPath, { _ = try $0.map(Issue.self, atKeyPath: "a") }),
        ("a value at a key path, another", #"{"a":1}"#, .object, { _ = try $0.map(Issue.self, atKeyPath: "a") }),
    ]

    @Test(
        "M144 M145 Every mapping error identifies the mapping and has the response",
        arguments: 0..<failures.count
    )
    func mappingFailures(_ row: Int) throws {
        let (name, body, mapping, run) = Self.failures[row]
        let response = try makeResponse(206, body, contentType: mapping == .string ? "text/plain; charset=x" : nil)
        let error = #expect(throws: PipelineError.self) { try run(response) }
        #expect(error?.code == .mapping(mapping), "\(name)")
        #expect(error?.code.isKind(of: .mapping) == true)
        #expect(error?.response?.statusCode == 206)
        #expect(error?.response?.data == Data(body.utf8))
        #expect(error?.request?.host == "example.com")
        #expect(error?.reason.isEmpty == false)
    }

    // MARK: map

    @Test("M138 A body decodes to an object, an array or a scalar")
    func map() throws {
        #expect(try makeResponse(200, #"{"title":"a"}"#).map(Issue.self) == Issue(title: "a"))
        #expect(try makeResponse(200, #"[{"title":"a"},{}]"#).map([Issue].self) == [Issue(title: "a"), Issue()])
        #expect(try makeResponse(200, "1.5").map(Double.self) == 1.5)
        #expect(try makeResponse(200, "null").map(Int?.self) == nil)
    }

    @Test("M140 Values are never converted to another type")
    func strict() throws {
        #expect(Self.code { _ = try makeResponse(200, "1").map(Bool.self) } == .mapping(.object))
        #expect(Self.code { _ = try makeResponse(200, "true").map(Int.self) } == .mapping(.object))
        #expect(Self.code { _ = try makeResponse(200, #""123""#).map(Int.self) } == .mapping(.object))
        #expect(Self.code { _ = try makeResponse(200, "[]").map(String.self) } == .mapping(.object))
        #expect(Self.code { _ = try makeResponse(200, #""a""#).map([String].self) } == .mapping(.object))
        for keyPath in ["b", "n"] {
            let response = try makeResponse(200, #"{"b":true,"n":1}"#)
            #expect((try? response.map(Bool.self, atKeyPath: keyPath)) == (keyPath == "b" ? true : nil))
            #expect((try? response.map(Int.self, atKeyPath: keyPath)) == (keyPath == "n" ? 1 : nil))
        }
    }

    static let document = #"""
        {"a":{"b":{"c":1},"list":[{"name":"x"},{"name":"y"}],"null":null,"a.b":2},"x.y":{"z":3},"0":"zero",
        "text":"t","flag":false,"":"empty"}
        """#

    static let keyPaths: [(String, String?)] = [
        ("a.b.c", "1"), ("a.list.1.name", #""y""#), ("a.list.0", #"{"name":"x"}"#), ("a.null", "null"), ("a.a.b", "2"),
        ("x.y.z", "3"), ("x.y", #"{"z":3}"#), ("0", #""zero""#), ("flag", "false"), ("text", #""t""#),
        ("missing", nil), ("a.missing", nil), ("a.list.2", nil), ("a.list.-1", nil), ("a.list.name", nil),
        ("text.length", nil), ("a.null.b", nil), ("flag.x", nil), ("a.b.c.d", nil), ("a..b", nil), ("a.@count", nil),
    ]

    @Test("M139 M141 M143 B-M28 A key path yields one value or a typed error", arguments: 0..<keyPaths.count)
    func keyPath(_ row: Int) throws {
        let (keyPath, json) = Self.keyPaths[row]
        let response = try makeResponse(200, Self.document)
        for failsOnEmptyData in [true, false] {
            guard let json else {
                let error = #expect(throws: PipelineError.self) {
                    try response.map(AnyJSON.self, atKeyPath: keyPath, failsOnEmptyData: failsOnEmptyData)
                }
                #expect(error?.code == .mapping(.keyPath))
                #expect(error?.reason.contains("\"\(keyPath)\"") == true)
                #expect(error?.response?.statusCode == 200)
                continue
            }
            let value = try response.map(AnyJSON.self, atKeyPath: keyPath, failsOnEmptyData: failsOnEmptyData)
            #expect(try value == JSONDecoder().decode(AnyJSON.self, from: Data(json.utf8)))
        }
    }

    enum AnyJSON: Decodable, Equatable {
        case null
        case bool(Bool)
        case number(Double)
        case string(String)
        indirect case object([String: AnyJSON])
        indirect case array([AnyJSON])

        init(from decoder: any Decoder) throws {
            let container = try decoder.singleValueContainer()
            if container.decodeNil() {
                self = .null
            } else if let value = try? container.decode(Bool.self) {
                self = .bool(value)
            } else if let value = try? container.decode(Double.self) {
                self = .number(value)
            } else if let value = try? container.decode(String.self) {
                self = .string(value)
            } else if let value = try? container.decode([AnyJSON].self) {
                self = .array(value)
            } else {
                self = .object(try container.decode([String: AnyJSON].self))
            }
        }
    }

    @Test("M142 B-M30 Ruling 12 An empty body decodes to an empty value on request")
    func emptyBody() throws {
        let response = try makeResponse(204)
        #expect(try response.map(Issue.self, failsOnEmptyData: false) == Issue())
        #expect(try response.map([Issue].self, failsOnEmptyData: false) == [])
        #expect(try response.map([Int].self, failsOnEmptyData: false) == [])
        #expect(try response.map([String: Int].self, failsOnEmptyData: false) == [:])
        #expect(Self.code { _ = try response.map(String.self, failsOnEmptyData: false) } == .mapping(.object))
        let error = #expect(throws: PipelineError.self) { try response.map(Issue.self) }
        #expect(error?.code == .mapping(.object))
        #expect(error?.reason.contains("empty") == true)
    }

    @Test("M141 B-M29 A key path into an empty body fails, even if empty bodies are allowed")
    func emptyBodyKeyPath() throws {
        let response = try makeResponse(204)
        for fails in [true, false] {
            let error = #expect(throws: PipelineError.self) {
                try response.map(Issue.self, atKeyPath: "a", failsOnEmptyData: fails)
            }
            #expect(error?.code == .mapping(.json))
            #expect(error?.reason.contains("empty") == true)
        }
    }

    @Test("M138 An undecodable body fails with a typed error that has the place, the cause and the response")
    func undecodable() throws {
        let response = try makeResponse(200, #"[{"title":"a"},{"title":7}]"#)
        let error = #expect(throws: PipelineError.self) { try response.map([Issue].self) }
        #expect(error?.code == .mapping(.object))
        #expect(error?.reason.contains("\"1.title\"") == true)
        #expect(error?.underlyingError is DecodingError)
        #expect(error?.response?.data == response.data)
        #expect(try makeResponse(200, "[]").map([Issue].self).isEmpty)
    }

    @Test(
        "An error says which form of JSON was expected and found, but no value",
        arguments: [
            ("{}", "expected an array, found an object"), ("7", "expected an array, found a number"),
            ("[[]]", #"expected an object, found an array at "0""#),
            (#"[{"id":"secret"}]"#, #"expected Int, found a string at "0.id""#),
            (#"[{"id":true}]"#, #"expected Int, found a Boolean at "0.id""#),
            (#"[{"id":null}]"#, #"null instead of Int at "0.id""#),
        ]
    )
    func forms(json: String, place: String) throws {
        struct Item: Decodable { let id: Int }
        let response = try makeResponse(200, json)
        let error = #expect(throws: PipelineError.self) { try response.map([Item].self) }
        #expect(error?.reason == "the body does not decode to Array<Item>: \(place)")
    }

    @Test("The place of an undecodable value shows no dictionary keys")
    func dictionaryKeys() throws {
        struct Accounts: Decodable {
            let balances: [String: [Int]]
        }
        for key in ["CANARY", "4111111111111111"] {
            let response = try makeResponse(200, #"{"balances":{"\#(key)":[1,"x"]}}"#)
            let error = #expect(throws: PipelineError.self) { try response.map(Accounts.self) }
            #expect(error?.reason.contains("balances") == true)
            #expect(error?.reason.contains(key) == false)
        }
    }
}
