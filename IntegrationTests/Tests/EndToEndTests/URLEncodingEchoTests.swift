import Foundation
import Pipeline
import TestSupport
import Testing

@Suite("httpbin: URL and form encoding", .besideHTTPBin, .realTime, .watched)
struct URLEncodingEchoTests {
    private let provider = Provider<Anything>()
    private let foundation = Provider<Anything>(transport: URLSessionTransport())

    private func echo(
        _ parameters: RequestParameters,
        _ encoding: URLEncoding,
        _ method: HTTPRequest.Method = .post
    ) async throws -> Echo {
        let task = RequestTask.requestParameters(parameters: parameters, encoding: encoding)
        return try await provider.request(Anything(method: method, task: task), as: Echo.self)
    }

    @Test(
        "by default, GET and DELETE send parameters in the query, and other methods in a form",
        arguments: [(HTTPRequest.Method.get, true), (.delete, true), (.post, false), (.put, false), (.patch, false)]
    )
    func methodDependent(method: HTTPRequest.Method, isQuery: Bool) async throws {
        let echo = try await echo(["q": "swift", "page": 2], .default, method)
        #expect(echo.args == (isQuery ? ["q": "swift", "page": "2"] : [:]))
        #expect(echo.form == (isQuery ? [:] : ["q": "swift", "page": "2"]))
        let form = "application/x-www-form-urlencoded; charset=utf-8"
        #expect(echo.headers["Content-Type"] == (isQuery ? nil : form))
    }

    @Test("queryString uses a query for any method", arguments: [HTTPRequest.Method.get, .post, .put, .patch, .delete])
    func queryString(method: HTTPRequest.Method) async throws {
        let echo = try await echo(["q": "swift"], .queryString, method)
        #expect(echo.args == ["q": "swift"])
        #expect(echo.form.isEmpty)
        #expect(echo.url.hasSuffix("/anything?q=swift"))
    }

    @Test("httpBody always sends a form as the body", arguments: [HTTPRequest.Method.post, .put, .patch, .delete])
    func httpBody(method: HTTPRequest.Method) async throws {
        let echo = try await echo(["q": "swift"], .httpBody, method)
        #expect(echo.form == ["q": "swift"])
        #expect(echo.args.isEmpty)
    }

    // URLSession sends no body with GET, on any platform.
    @Test("URLSession: a form in a GET is refused")
    func formOfGet() async throws {
        let task = RequestTask.requestParameters(parameters: ["q": "swift"], encoding: URLEncoding.httpBody)
        #expect(await foundation.failure(Anything(task: task))?.code == .invalidRequest(.body))
    }

    @Test("elements of an array are named as the encoding specifies", arguments: [true, false])
    func arrays(isQuery: Bool) async throws {
        let names = URLEncoding.ArrayEncoding.custom { key, index in "\(key).\(index + 1)" }
        let rows: [(URLEncoding.ArrayEncoding, [String: Echo.Values])] = [
            (.brackets, ["list[]": ["b", "a"], "in[deep][]": ["1", "2"], "of[][]": ["x", "y"]]),
            (.noBrackets, ["list": ["b", "a"], "in[deep]": ["1", "2"], "of": ["x", "y"]]),
            (
                .indexInBrackets,
                [
                    "list[0]": "b", "list[1]": "a", "in[deep][0]": "1", "in[deep][1]": "2", "of[0][0]": "x",
                    "of[1][0]": "y",
                ]
            ),
            (
                names,
                ["list.1": "b", "list.2": "a", "in[deep].1": "1", "in[deep].2": "2", "of.1.1": "x", "of.2.1": "y"]
            ),
        ]
        for (arrayEncoding, expected) in rows {
            let encoding = URLEncoding(destination: isQuery ? .queryString : .httpBody, arrayEncoding: arrayEncoding)
            let parameters: RequestParameters = [
                "list": ["b", "a"], "in": ["deep": [1, 2]], "of": [["x"], ["y"]], "none": [Int](),
            ]
            let echo = try await echo(parameters, encoding)
            #expect((isQuery ? echo.args : echo.form) == expected)
        }
    }

    @Test("booleans are written as numbers or words")
    func booleans() async throws {
        let parameters: RequestParameters = ["yes": true, "no": false, "one": 1]
        #expect(try await echo(parameters, .httpBody).form == ["yes": "1", "no": "0", "one": "1"])
        let literal = URLEncoding(destination: .queryString, boolEncoding: .literal)
        #expect(try await echo(parameters, literal).args == ["yes": "true", "no": "false", "one": "1"])
    }

    @Test("dates are written as the encoding specifies")
    func dates() async throws {
        let parameters: RequestParameters = ["at": Date(timeIntervalSince1970: 1_000_000_000.25)]
        let rows: [(DateCodingStrategy.TextEncoding, Echo.Values)] = [
            (.iso8601, "2001-09-09T01:46:40Z"), (.secondsSince1970, "1000000000.25"),
            (.millisecondsSince1970, "1000000000250"),
            (.custom { "\(Int($0.timeIntervalSince1970)) s" }, "1000000000 s"),
        ]
        for (dateEncoding, expected) in rows {
            #expect(try await echo(parameters, URLEncoding(dateEncoding: dateEncoding)).form == ["at": expected])
        }
    }

    @Test("values and names of every kind arrive unchanged", arguments: [true, false])
    func values(isQuery: Bool) async throws {
        let none: String? = nil
        let id = UUID()
        let parameters: RequestParameters = [
            "text": "Zoë & co = 50% + 1/2?", "emoji 😀": "👩‍👩‍👧", "lines": "a\r\nb\tc\u{0}", "empty": "", "space": " ",
            "int": -7, "double": 1.25, "whole": 2.0, "nothing": none, "null": NSNull(), "id": id,
            "link": HTTPBin.url, "data": Data([0, 255]), "nested": ["a": "b", "c": ["d": "e"]] as RequestParameters,
        ]
        let expected: [String: Echo.Values] = [
            "text": "Zoë & co = 50% + 1/2?", "emoji 😀": "👩‍👩‍👧", "lines": "a\r\nb\tc\u{0}", "empty": "", "space": " ",
            "int": "-7", "double": "1.25", "whole": "2", "id": [id.uuidString], "link": [HTTPBin.url.absoluteString],
            "data": "AP8=", "nested[a]": "b", "nested[c][d]": "e",
        ]
        let echo = try await echo(parameters, isQuery ? .queryString : .httpBody)
        #expect((isQuery ? echo.args : echo.form) == expected)
    }

    @Test("without parameters, the URL has no question mark and a form is empty")
    func noParameters() async throws {
        #expect(try await echo(["none": [Int]()], .queryString).url.hasSuffix("/anything"))
        let form = try await echo([:], .httpBody)
        #expect(form.form.isEmpty)
        #expect(form.headers["Content-Type"] == "application/x-www-form-urlencoded; charset=utf-8")
    }

    @Test("parameters follow the query of the base URL")
    func existingQuery() async throws {
        struct Search: TargetType {
            var baseURL: URL { HTTPBin.url.appending(queryItems: [URLQueryItem(name: "key", value: "k1")]) }
            var path: String { "anything" }
            var method: HTTPMethod { .get }
            var task: RequestTask { .requestParameters(parameters: ["q": "swift"], encoding: URLEncoding.default) }
        }
        let provider = Provider<Search>()
        let echo = try await provider.request(Search(), as: Echo.self)
        #expect(echo.args == ["key": "k1", "q": "swift"])
        #expect(echo.url.hasSuffix("/anything?key=k1&q=swift"))
    }

    @Test("a long form arrives in full")
    func longForm() async throws {
        let text = String(repeating: "東京", count: 20_000)
        #expect(try await echo(["text": text], .httpBody).form["text"]?.texts == [text])
    }
}
