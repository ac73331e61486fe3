import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("RequestTask, Encodable values", .watched)
struct RequestTaskEncodableTests {
    typealias Structure = TreeEncoderTests

    struct Search: Encodable, Sendable {
        var sortOrder: String? = "a/b"
        var since = Date(timeIntervalSince1970: 1.5)
        var limit = 1.0
    }

    static func request(_ task: RequestTask, _ headers: [String: String]? = nil) throws -> PipelineRequest {
        try RequestTaskTests.request(task, headers)
    }

    static func text(_ task: RequestTask) throws -> String? {
        try request(task).body.bytes.map { String(decoding: $0, as: UTF8.self) }
    }

    // MARK: JSON

    @Test("M16 A custom encoder's strategies and formatting are kept")
    func customJSON() throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.dateEncodingStrategy = .secondsSince1970
        let task = RequestTask.requestCustomJSONEncodable(Search(), encoder: encoder)
        #expect(try Self.text(task) == "{\n  \"limit\" : 1,\n  \"since\" : 1.5,\n  \"sort_order\" : \"a/b\"\n}")
        let fields = try Self.request(task).headers
        #expect(fields[values: .contentType] == ["application/json"])
        #expect(fields.count == 1)
        let own = try Self.request(task, ["content-type": "a/b"])
        #expect(own.headers[values: .contentType] == ["a/b"])
    }

    @Test("M17 A number that a custom encoder refuses fails, unless the encoder has a strategy for it")
    func customJSONNumbers() throws {
        let encoder = JSONEncoder()
        let task = RequestTask.requestCustomJSONEncodable(["a": [Double.nan]], encoder: encoder)
        let error = #expect(throws: PipelineError.self) { try Self.request(task) }
        #expect(error?.code == .encoding)
        #expect(error?.reason.contains("\"a.") == true)

        encoder.nonConformingFloatEncodingStrategy = .convertToString(
            positiveInfinity: "+",
            negativeInfinity: "-",
            nan: "none"
        )
        #expect(try Self.text(task) == #"{"a":["none"]}"#)
    }

    @Test("M16 A value sees the same userInfo and coding path as with JSONEncoder alone")
    func userInfo() throws {
        struct Missing: Error {}
        let key = try #require(CodingUserInfoKey(rawValue: "version"))
        let value = Structure.Value { encoder in
            guard encoder.userInfo[key] as? Int == 7, encoder.codingPath.map(\.stringValue) == ["a"] else {
                throw Missing()
            }
            var container = encoder.singleValueContainer()
            try container.encode(2)
        }
        let encoder = JSONEncoder()
        encoder.userInfo[key] = 7
        #expect(try Self.text(.requestCustomJSONEncodable(["a": value], encoder: encoder)) == #"{"a":2}"#)
    }

    @Test("A value that contains itself fails with a typed error instead of a crash", arguments: Structure.rings)
    func jsonCycle(_ ring: Structure.Ring) throws {
        for task in [
            RequestTask.requestJSONEncodable(ring.value),
            .requestCustomJSONEncodable([ring.value], encoder: JSONEncoder()),
        ] {
            let error = #expect(throws: PipelineError.self) { try Self.request(task) }
            #expect(error?.code == .encoding)
            #expect(error?.reason.contains("nested deeper than 128 levels") == true)
        }
    }

    @Test("128 levels are encoded as JSON, and 129 are refused")
    func jsonDepth() throws {
        let json = String(repeating: #"{"a":"#, count: 128) + "1" + String(repeating: "}", count: 128)
        #expect(try Self.text(.requestJSONEncodable(Structure.chain(128))) == json)
        #expect(throws: PipelineError.self) { try Self.request(.requestJSONEncodable(Structure.chain(129))) }
    }

    @Test("Every kind of value is encoded as JSONEncoder encodes it")
    func jsonKinds() throws {
        struct Kinds: Encodable, Sendable {
            var set = Set([1]), sides = [URLFormEncoderTests.Side.left: 1], sorts = [URLFormEncoderTests.Sort.newest: 1]
            var numbers = URLFormEncoderTests.Numbers(), texts = URLFormEncoderTests.Texts()
            var outer = URLFormEncoderTests.Outer(), optionals = URLFormEncoderTests.Optionals()
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        let expected = String(decoding: try encoder.encode(Kinds()), as: UTF8.self)
        #expect(try Self.text(.requestJSONEncodable(Kinds())) == expected)
    }

    // MARK: Query and form

    @Test("A value is appended to the query, without a body or Content-Type")
    func query() throws {
        let request = try Self.request(.requestQuery(URLFormEncoderTests.ListQuery()))
        #expect(request.head.path == "/p?a=b&offset=0&limit=100")
        #expect(request.body.isAbsent)
        #expect(request.headers.isEmpty)
    }

    @Test("ListQuery is encoded as offset=0&limit=100 for every method")
    func queryAlone() throws {
        for method in [HTTPRequest.Method.get, .post, .delete] {
            let task = RequestTask.requestQuery(URLFormEncoderTests.ListQuery())
            let request = try Endpoint(url: "https://h/p", method: method, task: task).makeRequest()
            #expect(request.head.path == "/p?offset=0&limit=100")
        }
    }

    @Test("A value without pairs adds no question mark", arguments: ["https://h/p", "https://h/p?a=b"])
    func emptyQuery(_ url: String) throws {
        for value: any Encodable & Sendable in [["a": [Int]()], [String: Int](), Search?.none] {
            let request = try Endpoint(url: url, method: .get, task: .requestQuery(value)).makeRequest()
            #expect("https://h" + (request.head.path ?? "") == url)
        }
    }

    @Test("A value becomes a form body for every method, and the URL is unchanged")
    func form() throws {
        let task = RequestTask.requestFormURLEncodable(URLFormEncoderTests.ListQuery())
        let request = try Self.request(task)
        #expect(request.head.path == "/p?a=b")
        #expect(request.body.bytes == Data("offset=0&limit=100".utf8))
        #expect(request.headers[values: .contentType] == ["application/x-www-form-urlencoded; charset=utf-8"])
        #expect(request.headers.count == 1)
        let delete = try Endpoint(url: "https://h/p", method: .delete, task: task).makeRequest()
        #expect(delete.body.bytes == Data("offset=0&limit=100".utf8))
    }

    @Test("B-C18 An existing Content-Type remains the only one")
    func formContentType() throws {
        let task = RequestTask.requestFormURLEncodable(["a": 1])
        let request = try Self.request(task, ["content-type": "text/plain"])
        #expect(request.headers[values: .contentType] == ["text/plain"])
    }

    @Test("A form without pairs is an empty body with a Content-Type")
    func emptyForm() throws {
        let request = try Self.request(.requestFormURLEncodable([String: Int]()))
        #expect(request.body.bytes == Data())
        #expect(!request.body.isAbsent)
        #expect(request.headers[.contentType] == "application/x-www-form-urlencoded; charset=utf-8")
    }

    @Test("A custom form encoder is used for the query and the form")
    func ownEncoder() throws {
        let encoder = URLFormEncoder(dateEncoding: .millisecondsSince1970, keyEncoding: .convertToSnakeCase)
        let pairs = "sort_order=a/b&since=1500&limit=1"
        #expect(try Self.request(.requestQuery(Search(), encoder: encoder)).query == "a=b&" + pairs)
        #expect(try Self.text(.requestFormURLEncodable(Search(), encoder: encoder)) == pairs)
    }

    @Test("A value that cannot be encoded fails the call before sending, and the next call works")
    func refusals() async throws {
        let transport = ScriptedTransport(always: .status(200))
        let provider = Provider<SampleTarget>(transport: transport)
        let tasks: [RequestTask] = [
            .requestQuery(["a": Double.nan]), .requestFormURLEncodable(["a": Double.nan]), .requestQuery([1]),
            .requestFormURLEncodable(Structure.rings[0].value), .requestJSONEncodable(Structure.rings[0].value),
        ]
        for task in tasks {
            let target = try SampleTarget { $0.task = task }
            let error = await #expect(throws: PipelineError.self) { try await provider.request(target) }
            #expect(error?.code == .encoding)
        }
        #expect(transport.sent.isEmpty)
        #expect(try await provider.request(SampleTarget()).statusCode == 200)
    }
}
