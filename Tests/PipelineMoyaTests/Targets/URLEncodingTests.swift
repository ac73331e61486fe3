import Foundation
import PipelineMoya
import TestSupport
import Testing

@Suite(.watched) struct MoyaURLEncodingTests {
    private func query(
        _ parameters: [String: Any]?,
        _ encoding: URLEncoding = .queryString,
        url: String = "https://example.com/"
    ) throws -> String {
        let request = try encoding.encode(URLRequest(url: try #require(URL(string: url))), with: parameters)
        return try #require(request.url?.absoluteString.dropFirst("https://example.com/".count).description)
    }

    @Test("M33: by default, GET, HEAD and DELETE write into the query, and other methods into the body")
    func destination() throws {
        for method in [Moya.Method.get, .head, .delete, .post, .put, .patch, .options, .query] {
            let endpoint = Endpoint.make(
                .requestParameters(parameters: ["a": 1], encoding: URLEncoding.default),
                method: method
            )
            let request = try endpoint.urlRequest()
            let isQuery = [Moya.Method.get, .head, .delete].contains(method)
            #expect(request.url?.query == (isQuery ? "a=1" : nil))
            #expect(request.httpBody == (isQuery ? nil : Data("a=1".utf8)))
            let type = "application/x-www-form-urlencoded; charset=utf-8"
            #expect(request.value(forHTTPHeaderField: "Content-Type") == (isQuery ? nil : type))
        }
    }

    @Test("M34, M35: without parameters, the request stays as it is")
    func noParameters() throws {
        #expect(try query(nil) == "")
        #expect(try query([:]) == "")
    }

    @Test("M36: a form without parameters has an empty body and a Content-Type")
    func emptyForm() throws {
        let request = try Endpoint.make(
            .requestParameters(parameters: [:], encoding: URLEncoding.httpBody),
            method: .post
        )
        .urlRequest()
        #expect(request.httpBody == Data())
        #expect(request.value(forHTTPHeaderField: "Content-Type") != nil)
    }

    @Test("M37: an existing query comes first")
    func existingQuery() throws {
        #expect(try query(["foo": "bar"], url: "https://example.com/?baz=qux") == "?baz=qux&foo=bar")
    }

    @Test("M39: names are sorted at every level, upper case first")
    func order() throws {
        #expect(try query(["b": 1, "a": ["y": 1, "x": 2], "B": 3]) == "?B=3&a%5Bx%5D=2&a%5By%5D=1&b=1")
    }

    @Test("M40: names of nested members are in brackets")
    func nested() throws {
        #expect(try query(["foo": ["bar": ["baz": 1]]]) == "?foo%5Bbar%5D%5Bbaz%5D=1")
    }

    @Test("M41–M45: elements are named as the array encoding says")
    func arrays() throws {
        let parameters: [String: Any] = ["foo": ["a", 1, true] as [Any]]
        func text(_ encoding: URLEncoding.ArrayEncoding) throws -> String {
            try query(parameters, URLEncoding(destination: .queryString, arrayEncoding: encoding))
        }
        #expect(try text(.brackets) == "?foo%5B%5D=a&foo%5B%5D=1&foo%5B%5D=1")
        #expect(try text(.noBrackets) == "?foo=a&foo=1&foo=1")
        #expect(try text(.indexInBrackets) == "?foo%5B0%5D=a&foo%5B1%5D=1&foo%5B2%5D=1")
        #expect(try text(.custom { "\($0).\($1 + 1)" }) == "?foo.1=a&foo.2=1&foo.3=1")
        #expect(try query(["foo": ["bar": [1]]]) == "?foo%5Bbar%5D%5B%5D=1")
        #expect(try query(["foo": [[1]]]) == "?foo%5B%5D%5B%5D=1")
    }

    @Test("M47: empty collections add nothing, not even a question mark")
    func emptyCollections() throws {
        #expect(try query(["a": [String](), "b": [String: Int]()]) == "")
    }

    @Test("M48: a Boolean is a digit or a word, and a number is never taken for a Boolean")
    func booleans() throws {
        #expect(try query(["a": true, "b": false]) == "?a=1&b=0")
        let literal = URLEncoding(destination: .queryString, boolEncoding: .literal)
        #expect(
            try query(["a": true, "b": false, "c": 1, "d": 0, "e": NSNumber(value: true)], literal)
                == "?a=true&b=false&c=1&d=0&e=true"
        )
    }

    @Test("M49: numbers have their shortest form on every platform")
    func numbers() throws {
        #expect(try query(["a": 1.1, "b": 1.0, "c": Float(2), "d": -3, "e": UInt8(7)]) == "?a=1.1&b=1&c=2&d=-3&e=7")
    }

    @Test("M30, M50: an optional with a value is that value; one without is the text nil")
    func optionals() throws {
        let (some, none): (Int?, Int?) = (3, nil)
        #expect(try query(["a": some as Any, "b": none as Any]) == "?a=3&b=nil")
    }

    @Test("M51: everything but unreserved characters, slash and question mark is escaped")
    func escaping() throws {
        #expect(
            try query(["k": "a b+c%/?:#[]@!$&'()*,;=é~-._"])
                == "?k=a%20b%2Bc%25/?%3A%23%5B%5D%40%21%24%26%27%28%29%2A%2C%3B%3D%C3%A9~-._"
        )
    }

    @Test("M54: JSON has sorted keys and a Content-Type unless there is one")
    func json() throws {
        let request = URLRequest(url: try #require(URL(string: "https://example.com")))
        let encoded = try JSONEncoding.default.encode(request, with: ["b": [1, 2], "a": ["x": true]])
        #expect(encoded.httpBody == Data(#"{"a":{"x":true},"b":[1,2]}"#.utf8))
        #expect(encoded.value(forHTTPHeaderField: "Content-Type") == "application/json")
        #expect(try JSONEncoding.default.encode(request, with: nil) == request)
    }

    @Test("URLRequest.headers reads and writes the header fields")
    func headers() throws {
        var request = URLRequest(url: try #require(URL(string: "https://example.com")))
        request.headers = ["A": "1"]
        request.headers.add(name: "B", value: "2")
        request.headers.add(.authorization(bearerToken: "t"))
        request.headers.update(name: "a", value: "3")
        #expect(request.headers["b"] == "2")
        #expect(request.value(forHTTPHeaderField: "A") == "3")
        #expect(request.value(forHTTPHeaderField: "Authorization") == "Bearer t")
        request.headers.remove(name: "b")
        #expect(request.headers.value(for: "B") == nil)
        #expect(HTTPHeader.authorization(username: "user", password: "pass").value == "Basic dXNlcjpwYXNz")
    }
}
