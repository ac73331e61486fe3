import Foundation
import Pipeline
import TestSupport
import Testing

@Suite("httpbin: values as queries, forms, JSON and property lists", .besideHTTPBin, .realTime, .watched)
struct EncodableTaskTests {
    private struct Search: Encodable, Sendable {
        struct Range: Encodable {
            var from = 1
            var to: Int?
        }

        var text = "Zoë & co = 50% + 1/2?"
        var tags = ["b", "a"]
        var range = Range()
        var isNew = true
        var price = 2.0
        var note: String?
        var maximumCount = 10
    }

    private let provider = Provider<Anything>()
    private let expected: [String: Echo.Values] = [
        "text": "Zoë & co = 50% + 1/2?", "tags[]": ["b", "a"], "range[from]": "1", "isNew": "1", "price": "2",
        "maximumCount": "10",
    ]

    private func echo(_ task: RequestTask, _ method: HTTPRequest.Method = .post) async throws -> Echo {
        try await provider.request(Anything(method: method, task: task), as: Echo.self)
    }

    @Test("a value becomes the query, for every method", arguments: [HTTPRequest.Method.get, .delete, .post])
    func query(method: HTTPRequest.Method) async throws {
        let echo = try await echo(.requestQuery(Search()), method)
        #expect(echo.args == expected)
        #expect(echo.form.isEmpty)
        #expect(echo.data.isEmpty)
        #expect(echo.headers["Content-Type"] == nil)
    }

    @Test("a query keeps the order in which the value encodes")
    func order() async throws {
        struct Page: Encodable, Sendable {
            var offset = 0
            var limit = 100
        }
        #expect(try await echo(.requestQuery(Page()), .get).url.hasSuffix("/anything?offset=0&limit=100"))
    }

    @Test("a value becomes a form", arguments: [HTTPRequest.Method.post, .put, .patch])
    func form(method: HTTPRequest.Method) async throws {
        let echo = try await echo(.requestFormURLEncodable(Search()), method)
        #expect(echo.form == expected)
        #expect(echo.args.isEmpty)
        #expect(echo.headers["Content-Type"] == "application/x-www-form-urlencoded; charset=utf-8")
    }

    @Test("a value becomes JSON as its encoder specifies")
    func customJSON() async throws {
        struct Event: Codable, Equatable, Sendable {
            var startDate = Date(timeIntervalSince1970: 1_000_000_000)
            var userName = "zoë"
        }
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .secondsSince1970
        encoder.keyEncodingStrategy = .convertToSnakeCase
        encoder.outputFormatting = .sortedKeys
        let task = RequestTask.requestCustomJSONEncodable(Event(), encoder: encoder)
        let response = try await provider.request(Anything(method: .post, task: task))
        #expect(try response.map(Echo.self).data == #"{"start_date":1000000000,"user_name":"zoë"}"#)
        #expect(try response.map(Echo.self).headers["Content-Type"] == "application/json")
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .secondsSince1970
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        #expect(try response.map(Event.self, atKeyPath: "json", using: decoder) == Event())
    }

    @Test("parameters become a property list, in XML and in binary", arguments: [false, true])
    func propertyList(isBinary: Bool) async throws {
        let parameters: RequestParameters = [
            "title": "Zoë & co", "count": 3, "yes": true, "list": [1, 2], "bytes": Data([0, 255]),
            "at": Date(timeIntervalSince1970: 1_000_000_000),
        ]
        let encoding = isBinary ? PropertyListEncoding.binary : .xml
        let echo = try await echo(.requestParameters(parameters: parameters, encoding: encoding))
        #expect(echo.headers["Content-Type"] == "application/x-plist")
        let body = isBinary ? try #require(bytes(ofDataURL: echo.data)) : Data(echo.data.utf8)
        #expect(body.starts(with: Data((isBinary ? "bplist00" : "<?xml").utf8)))
        let value = try PropertyListSerialization.propertyList(from: body, format: nil)
        let list = try #require(value as? [String: Any])
        #expect(list["title"] as? String == "Zoë & co")
        #expect(list["count"] as? Int == 3)
        #expect(list["yes"] as? Bool == true)
        #expect(list["list"] as? [Int] == [1, 2])
        #expect(list["bytes"] as? Data == Data([0, 255]))
        #expect(list["at"] as? Date == Date(timeIntervalSince1970: 1_000_000_000))
    }
}
