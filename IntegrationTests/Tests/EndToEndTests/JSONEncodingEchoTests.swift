import Foundation
import Pipeline
import TestSupport
import Testing

@Suite("httpbin: JSON", .besideHTTPBin, .realTime, .watched)
struct JSONEncodingEchoTests {
    private struct Order: Codable, Equatable, Sendable {
        struct Line: Codable, Equatable {
            var sku: String
            var count: Int
            var price: Double
        }

        var id: UUID
        var note: String?
        var lines: [Line]
        var isGift: Bool
        var tags: [String: String]
    }

    private let provider = Provider<Anything>()
    private let order = Order(
        id: UUID(),
        note: "Zoë 😀 \"quoted\" \\ / \n\t\u{1}\u{2028}",
        lines: [.init(sku: "a-1", count: 3, price: 9.99), .init(sku: "", count: -1, price: 0)],
        isGift: true,
        tags: ["b": "2", "a": "1"]
    )

    @Test("an encodable value arrives equal", arguments: [HTTPRequest.Method.post, .put, .patch, .delete])
    func encodable(method: HTTPRequest.Method) async throws {
        let target = Anything(method: method, task: .requestJSONEncodable(order))
        let response = try await provider.request(target)
        #expect(try response.map(Order.self, atKeyPath: "json") == order)
        let echo = try response.map(Echo.self)
        #expect(echo.headers["Content-Type"] == "application/json")
        #expect(try JSONDecoder().decode(Order.self, from: Data(echo.data.utf8)) == order)
    }

    @Test("arrays and single values arrive as the entire body")
    func otherRoots() async throws {
        let array = try await provider.request(Anything(method: .post, task: .requestJSONEncodable([3, 1, 2])))
        #expect(try array.map([Int].self, atKeyPath: "json") == [3, 1, 2])
        let text = try await provider.request(Anything(method: .post, task: .requestJSONEncodable("one")))
        #expect(try text.mapString(atKeyPath: "json") == "one")
    }

    @Test("the target's Content-Type is kept")
    func contentType() async throws {
        let target = Anything(
            method: .post,
            task: .requestJSONEncodable(["a": 1]),
            headers: ["Content-Type": "application/vnd.shop+json"]
        )
        let echo = try await provider.request(target, as: Echo.self)
        #expect(echo.headers["Content-Type"] == "application/vnd.shop+json")
        #expect(echo.data == #"{"a":1}"#)
    }

    @Test("parameters are JSON with sorted keys, on one line or indented", arguments: [false, true])
    func parameters(isPretty: Bool) async throws {
        let none: Int? = nil
        let parameters: RequestParameters = [
            "text": "Zoë", "yes": true, "number": 1.5, "whole": 2.0, "big": 9_007_199_254_740_993, "list": [1, 2],
            "nested": ["b": "2", "a": "1"], "null": NSNull(), "nothing": none, "at": Date(timeIntervalSince1970: 0),
        ]
        let encoding = isPretty ? JSONEncoding.prettyPrinted : .default
        let target = Anything(method: .post, task: .requestParameters(parameters: parameters, encoding: encoding))
        let response = try await provider.request(target)
        let echo = try response.map(Echo.self)
        let line =
            #"{"at":"1970-01-01T00:00:00Z","big":9007199254740993,"list":[1,2],"nested":{"a":"1","b":"2"},"#
            + #""null":null,"number":1.5,"text":"Zoë","whole":2,"yes":true}"#
        let spaces = CharacterSet.whitespacesAndNewlines
        #expect(echo.data.unicodeScalars.contains("\n") == isPretty)
        #expect(String(String.UnicodeScalarView(echo.data.unicodeScalars.filter { !spaces.contains($0) })) == line)
        #expect(echo.headers["Content-Type"] == "application/json")
        #expect(try response.map(Int.self, atKeyPath: "json.big") == 9_007_199_254_740_993)
        #expect(try response.map([Int].self, atKeyPath: "json.list") == [1, 2])
        #expect(try response.mapString(atKeyPath: "json.nested.a") == "1")
    }

    @Test("a value that JSON cannot represent fails before anything is sent")
    func notJSON() async throws {
        let target = Anything(method: .post, task: .requestJSONEncodable(["a": Double.infinity]))
        let error = try #require(await provider.failure(target))
        #expect(error.code == .encoding)
        #expect(error.exchanges.isEmpty)
    }
}
