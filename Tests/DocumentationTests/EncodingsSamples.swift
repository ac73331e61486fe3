import Foundation
import Pipeline
import TestSupport
import Testing

/// The samples of the guide Requests for encodings.
enum EncodingsSamples {
    // sample: values
    struct ListQuery: Encodable {
        var offset = 0
        var limit = 100
        var sortBy: [String] = []
        var since: Date?
    }
    // end

    struct Order: Encodable {
        var id = 7
        var placedAt = Date(timeIntervalSince1970: 1_000_000_000)
    }

    static func tasks() -> [RequestTask] {
        // sample: tasks
        let page = ListQuery(offset: 20, sortBy: ["name", "age"])
        let query = RequestTask.requestQuery(page)
        let form = RequestTask.requestFormURLEncodable(page, encoder: URLFormEncoder(arrayEncoding: .noBrackets))
        let json = RequestTask.requestJSONEncodable(page)
        // end
        return [query, form, json]
    }

    static func parameters() -> [RequestTask] {
        // sample: parameters
        let parameters: RequestParameters = ["q": "a b", "tags": ["x", "y"], "page": Int?.none]
        let query = RequestTask.requestParameters(parameters: parameters, encoding: URLEncoding.queryString)
        let json = RequestTask.requestParameters(parameters: parameters, encoding: JSONEncoding.default)
        let list = RequestTask.requestParameters(parameters: parameters, encoding: PropertyListEncoding.binary)
        // end
        return [query, json, list]
    }

    static func settings() -> (URLFormEncoder, RequestTask) {
        // sample: settings
        var forms = URLFormEncoder(boolEncoding: .literal, keyEncoding: .convertToSnakeCase)
        forms.dateEncoding = .custom { $0.formatted(.iso8601.year().month().day()) }

        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .iso8601
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let json = RequestTask.requestCustomJSONEncodable(Order(), encoder: encoder)
        // end
        return (forms, json)
    }
}

// sample: xml
/// Parameters as an XML document, each an element of its own.
struct XMLEncoding: ParameterEncoding {
    let root: String

    func encode(_ parameters: RequestParameters, into request: inout PipelineRequest) throws {
        let elements = parameters.sorted { $0.key < $1.key }.map { key, value in
            let text = "\(value)".replacing("&", with: "&amp;").replacing("<", with: "&lt;")
            return "<\(key)>\(text)</\(key)>"
        }
        request.body = .bytes(Data("<\(root)>\(elements.joined())</\(root)>".utf8))
        request.setContentTypeIfAbsent("application/xml")
    }
}
// end

@Suite("The guide Requests, on encodings", .watched)
struct EncodingsTests {
    private static func sent(_ task: RequestTask) throws -> PipelineRequest {
        try Endpoint(url: "https://h/p", method: .post, task: task).makeRequest()
    }

    private static func text(_ task: RequestTask) throws -> String? {
        let request = try sent(task)
        return request.query ?? request.body.bytes.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test("Each value is sent as the page shows")
    func values() throws {
        let texts = try EncodingsSamples.tasks().map(Self.text)
        #expect(
            texts == [
                "offset=20&limit=100&sortBy%5B%5D=name&sortBy%5B%5D=age",
                "offset=20&limit=100&sortBy=name&sortBy=age",
                #"{"limit":100,"offset":20,"sortBy":["name","age"]}"#,
            ]
        )
    }

    @Test("Each parameter is sent as the page shows")
    func parameters() throws {
        let tasks = EncodingsSamples.parameters()
        #expect(try Self.text(tasks[0]) == "q=a%20b&tags%5B%5D=x&tags%5B%5D=y")
        #expect(try Self.text(tasks[1]) == #"{"q":"a b","tags":["x","y"]}"#)
        let list = try #require(try Self.sent(tasks[2]).body.bytes)
        #expect(try PropertyListDecoder().decode([String: AnyText].self, from: list).count == 2)
    }

    private struct AnyText: Decodable {
        init(from decoder: any Decoder) throws {}
    }

    @Test("Settings change the encoding of names, booleans and dates")
    func settings() throws {
        struct Value: Encodable { var isOpen = true, openedAt = Date(timeIntervalSince1970: 1_000_000_000) }
        let (forms, json) = EncodingsSamples.settings()
        #expect(try forms.encode(Value()) == "is_open=true&opened_at=2001-09-09")
        #expect(try Self.text(json) == #"{"id":7,"placedAt":"2001-09-09T01:46:40Z"}"#)
    }

    @Test("A custom XML encoding takes at most 15 lines")
    func xml() throws {
        let encoding = XMLEncoding(root: "order")
        var request = try Self.sent(.requestParameters(parameters: ["note": "<a&b", "id": 7], encoding: encoding))
        #expect(request.body.bytes == Data("<order><id>7</id><note>&lt;a&amp;b</note></order>".utf8))
        #expect(request.headers[values: .contentType] == ["application/xml"])
        try request.setHeader("text/xml", for: .contentType)
        try encoding.encode([:], into: &request)
        #expect(request.headers[values: .contentType] == ["text/xml"])

        let source = try String(contentsOf: URL(filePath: #filePath), encoding: .utf8)
        let sample = try #require(Samples.all(in: source)["xml"])
        #expect(sample.split(separator: "\n", omittingEmptySubsequences: false).count <= 15)
    }
}
