import Foundation
import PipelineMoya
import TestSupport
import Testing

@Suite(.watched) struct MoyaResponseTests {
    private struct Item: Decodable, Equatable {
        var title: String?
        var count: Int?
    }

    private func response(_ body: String, _ status: Int = 200) -> Response {
        Response(statusCode: status, data: Data(body.utf8))
    }

    @Test("M132: the description has the status and the length")
    func description() {
        #expect(response("").description == "Status Code: 200, Data Length: 0")
        #expect(response("abc", 404).debugDescription == "Status Code: 404, Data Length: 3")
    }

    @Test("M132: equality ignores the request")
    func equality() throws {
        let request = URLRequest(url: try #require(URL(string: "https://example.com")))
        #expect(Response(statusCode: 200, data: Data(), request: request) == response(""))
        #expect(response("a") != response("b"))
        #expect(response("", 200) != response("", 201))
    }

    @Test("M133: a filter returns the response or throws it with its status")
    func filters() throws {
        #expect(try response("", 204).filterSuccessfulStatusCodes().statusCode == 204)
        #expect(try response("", 304).filterSuccessfulStatusAndRedirectCodes().statusCode == 304)
        #expect(try response("", 404).filter(statusCode: 404).statusCode == 404)
        #expect(try response("", 250).filter(statusCodes: 200..<300).statusCode == 250)
        #expect(try response("", 600).filter(statusCodes: 500...).statusCode == 600)
        for call in [
            { try self.response("", 404).filterSuccessfulStatusCodes() },
            { try self.response("", 404).filterSuccessfulStatusAndRedirectCodes() },
            { try self.response("", 404).filter(statusCode: 200) },
            { try self.response("", 404).filter(statusCodes: 0...9) },
        ] {
            do {
                _ = try call()
                Issue.record("no error")
            } catch MoyaError.statusCode(let response) {
                #expect(response.statusCode == 404)
            } catch {
                Issue.record(error)
            }
        }
    }

    @Test("M135: JSON may be a fragment; an empty body is NSNull if it is allowed")
    func json() throws {
        #expect(try response(#"{"a":1}"#).mapJSON() as? [String: Int] == ["a": 1])
        #expect(try response("3").mapJSON() as? Int == 3)
        #expect(try response("").mapJSON(failsOnEmptyData: false) is NSNull)
        for body in ["", "not JSON", " "] {
            #expect(isJSONMapping { try response(body).mapJSON() })
        }
        #expect(isJSONMapping { try response(" ").mapJSON(failsOnEmptyData: false) })
    }

    @Test("M136: text must be UTF-8")
    func text() throws {
        #expect(try response("héllo").mapString() == "héllo")
        #expect(try response("").mapString() == "")
        #expect(isStringMapping { try Response(statusCode: 200, data: Data([0xFF])).mapString() })
    }

    @Test("M137: text at a key path must be there and be text")
    func textAtKeyPath() throws {
        let body = response(#"{"words": {"one": "eins"}, "count": 1}"#)
        #expect(try body.mapString(atKeyPath: "words.one") == "eins")
        #expect(isStringMapping { try body.mapString(atKeyPath: "count") })
        #expect(isStringMapping { try body.mapString(atKeyPath: "words.two") })
        #expect(isStringMapping { try response("[]").mapString(atKeyPath: "a") })
        #expect(isJSONMapping { try response("no").mapString(atKeyPath: "a") })
    }

    @Test("M138: a value is decoded with the given decoder")
    func value() throws {
        #expect(try response(#"{"title":"x","count":2}"#).map(Item.self) == Item(title: "x", count: 2))
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .secondsSince1970
        #expect(try response("[5]").map([Date].self, using: decoder) == [Date(timeIntervalSince1970: 5)])
        #expect(isObjectMapping { try response(#"{"title":1}"#).map(Item.self) })
    }

    @Test("M139: a value at a key path may be an object, an array or a scalar")
    func valueAtKeyPath() throws {
        let body = response(#"{"a": {"item": {"title": "x"}, "items": [{"count": 1}], "n": 3, "on": true, "s": "t"}}"#)
        #expect(try body.map(Item.self, atKeyPath: "a.item") == Item(title: "x"))
        #expect(try body.map([Item].self, atKeyPath: "a.items") == [Item(count: 1)])
        #expect(try body.map(Int.self, atKeyPath: "a.n") == 3)
        #expect(try body.map(Bool.self, atKeyPath: "a.on") == true)
        #expect(try body.map(String.self, atKeyPath: "a.s") == "t")
    }

    @Test("M140: values are not converted")
    func noConversion() {
        let body = response(#"{"one": 1, "text": "123", "list": ["a"]}"#)
        #expect(isObjectMapping { try body.map(Bool.self, atKeyPath: "one") })
        #expect(isObjectMapping { try body.map(Int.self, atKeyPath: "text") })
        #expect(isObjectMapping { try body.map(String.self, atKeyPath: "list") })
        #expect(isObjectMapping { try body.map([String].self, atKeyPath: "text") })
    }

    @Test("M141, M143: a missing key path is an error, also one through a value that is not an object")
    func missingKeyPath() {
        let body = response(#"{"a": 1, "list": [{"b": 1}]}"#)
        for path in ["b", "a.b", "list.b"] {
            #expect(isJSONMapping { try body.map(Int.self, atKeyPath: path) })
            #expect(isJSONMapping { try body.map(Item.self, atKeyPath: path, failsOnEmptyData: false) })
        }
    }

    @Test("M142: an empty body decodes like an empty object or an array of one, if it is allowed")
    func emptyBody() throws {
        let empty = response("")
        #expect(try empty.map(Item.self, failsOnEmptyData: false) == Item())
        #expect(try empty.map([Item].self, failsOnEmptyData: false) == [Item()])
        #expect(try empty.map([String: Int].self, failsOnEmptyData: false) == [:])
        #expect(try empty.map(Item.self, atKeyPath: "a", failsOnEmptyData: false) == Item())
        #expect(isObjectMapping { try empty.map([Int].self, failsOnEmptyData: false) })
        #expect(isObjectMapping { try empty.map(Item.self) })
    }

    @Test("M149: progress is 1 with a response, else the fraction, else 0")
    func progress() {
        let object = Progress(totalUnitCount: 4)
        object.completedUnitCount = 1
        #expect(ProgressResponse(progress: object).progress == 0.25)
        #expect(!ProgressResponse(progress: object).completed)
        #expect(ProgressResponse(progress: object, response: response("")).progress == 1)
        #expect(ProgressResponse(progress: Progress(totalUnitCount: 0)).progress == 0)
        #expect(ProgressResponse().progress == 0)
        #expect(ProgressResponse(response: response("")).completed)
    }

    private func isJSONMapping(_ body: () throws -> Any) -> Bool {
        do { _ = try body() } catch MoyaError.jsonMapping { return true } catch {}
        return false
    }

    private func isStringMapping(_ body: () throws -> Any) -> Bool {
        do { _ = try body() } catch MoyaError.stringMapping { return true } catch {}
        return false
    }

    private func isObjectMapping(_ body: () throws -> Any) -> Bool {
        do { _ = try body() } catch MoyaError.objectMapping { return true } catch {}
        return false
    }
}
