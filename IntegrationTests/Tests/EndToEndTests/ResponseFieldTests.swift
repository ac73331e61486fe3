import Foundation
import Pipeline
import TestSupport
import Testing

@Suite("httpbin: response fields", .besideHTTPBin, .realTime, .watched)
struct ResponseFieldTests {
    private struct Fields: HTTPBinTarget {
        var pairs: [String: [String]]
        var method: HTTPMethod = .get

        var path: String { "/response-headers" }
        var task: RequestTask {
            let encoding = URLEncoding(destination: .queryString, arrayEncoding: .noBrackets)
            return .requestParameters(parameters: pairs, encoding: encoding)
        }
    }

    private let provider = Provider<Fields>(plugins: [GzipPlugin()])
    private let foundation = Provider<Fields>(transport: URLSessionTransport())

    @Test(
        "fields arrive as they were sent, whatever the case of their names",
        arguments: [HTTPRequest.Method.get, .post]
    )
    func fields(method: HTTPRequest.Method) async throws {
        let name = try #require(HTTPField.Name("X-Request-Cost"))
        let pairs = ["x-request-cost": ["12; unit=ms"], "Link": [#"</a>; rel="next", </b>; rel="last""#]]
        let response = try await provider.request(Fields(pairs: pairs, method: method))
        #expect(response.headers[name] == "12; unit=ms")
        #expect(response.headers[HTTPField.Name("Link") ?? name] == #"</a>; rel="next", </b>; rel="last""#)
    }

    @Test("AsyncHTTPClient: fields arrive in the order they were sent, with repeats")
    func orderOfTheWire() async throws {
        let response = try await provider.request(Fields(pairs: ["Z-First": ["1", "2"], "Set-Cookie": ["a=1, b=2"]]))
        let own = response.headers.filter { ["z-first", "set-cookie"].contains($0.name.canonicalName) }.map(\.value)
        #expect(Set(own) == ["1", "2", "a=1, b=2"])
        #expect(own.firstIndex(of: "1").map { $0 + 1 } == own.firstIndex(of: "2"))
        #expect(response.headers.map(\.name.canonicalName) != response.headers.map(\.name.canonicalName).sorted())
    }

    // Foundation keeps response fields in a dictionary: repeats and their order are lost before a transport sees them.
    @Test("URLSession: repeated fields arrive as one, joined by a comma")
    func repeated() async throws {
        let name = try #require(HTTPField.Name("a"))
        let response = try await foundation.request(Fields(pairs: ["a": ["1", "2"]]))
        #expect(try response.map([String].self, atKeyPath: "a") == ["1", "2"])
        #expect(response.headers[fields: name].map(\.value) == ["1, 2"])
    }

    @Test("URLSession: fields arrive sorted by name, not in the order they were sent")
    func order() async throws {
        let response = try await foundation.request(Fields(pairs: ["Z-First": ["1"], "B-Second": ["2"]]))
        let names = response.headers.map(\.name.canonicalName)
        #expect(Set(["z-first", "b-second", "server", "date"]).isSubset(of: names))
        #expect(names == names.sorted())
    }

    // HTTPURLResponse has no reason phrase.
    @Test("URLSession: the reason phrase is lost")
    func reasonPhrase() async throws {
        let response = try await foundation.request(Fields(pairs: [:]))
        #expect(response.head.status.reasonPhrase.isEmpty)
    }

    @Test("repeated Set-Cookie fields stay separate")
    func cookies() async throws {
        let cookies = ["a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT", "b=x,y; Path=/", "c=3"]
        let response = try await provider.request(Fields(pairs: ["Set-Cookie": cookies]))
        #expect(response.headers[values: .setCookie] == cookies)
    }

    // Foundation joins Set-Cookie fields, and splitting them takes text after a comma that looks like a cookie for one.
    // A cookie's value must not contain a comma (RFC 6265 §4.1.1), so this only affects servers that break the rule.
    @Test("URLSession: a cookie with a comma, a space and a name in its value arrives as two")
    func cookieWithComma() async throws {
        let response = try await foundation.request(Fields(pairs: ["Set-Cookie": ["a=1, b=2"]]))
        #expect(response.headers[values: .setCookie] == ["a=1", "b=2"])
    }

    @Test("two different lengths fail with malformedResponse")
    func twoLengths() async throws {
        let error = try #require(await provider.failure(Fields(pairs: ["Content-Length": ["5"]])))
        #expect(error.code == .malformedResponse)
    }

    @Test(
        "a body that is not in its declared coding fails with contentCoding",
        arguments: ["gzip", "deflate", "br"]
    )
    func wrongCoding(coding: String) async throws {
        let error = try #require(await provider.failure(Fields(pairs: ["Content-Encoding": [coding]])))
        #expect(error.code.isKind(of: .contentCoding))
    }

    #if canImport(FoundationNetworking)
    // libcurl rejects what it cannot decode; elsewhere the body arrives as it is.
    @Test("URLSession on Linux: a body in an unknown coding fails with contentCoding")
    func unknownCoding() async throws {
        let error = try #require(await foundation.failure(Fields(pairs: ["Content-Encoding": ["snappy"]])))
        #expect(error.code == .contentCoding(.corrupt))
    }
    #endif

    @Test("a body in identity coding is left as it is")
    func identity() async throws {
        let response = try await provider.request(Fields(pairs: ["Content-Encoding": ["identity"]]))
        #expect(try response.mapString(atKeyPath: "Content-Encoding") == "identity")
    }

    @Test("an empty field arrives empty")
    func empty() async throws {
        let name = try #require(HTTPField.Name("X-Empty"))
        #expect(try await provider.request(Fields(pairs: ["X-Empty": [""]])).headers[name] == "")
    }

    @Test("a field in UTF-8 arrives as text")
    func utf8() async throws {
        let name = try #require(HTTPField.Name("X-City"))
        // httpbin writes each character as one byte of Latin-1: these two are the bytes of ü in UTF-8.
        let response = try await provider.request(Fields(pairs: ["X-City": ["Z\u{c3}\u{bc}rich"]]))
        #expect(response.headers[name] == "Zürich")
    }

    #if canImport(FoundationNetworking)
    // Foundation on Linux fails a response with a byte that is not UTF-8.
    @Test("URLSession on Linux: a field in Latin-1 fails with malformedResponse")
    func latin1() async throws {
        let error = try #require(await foundation.failure(Fields(pairs: ["X-City": ["Z\u{fc}rich"]])))
        #expect(error.code == .malformedResponse)
        #expect(try await foundation.request(Fields(pairs: ["X-City": ["Bern"]])).statusCode == 200)
    }
    #endif

    @Test("a field of three thousand bytes arrives in full, and the field limit is enforced")
    func large() async throws {
        let name = try #require(HTTPField.Name("X-Large"))
        let target = Fields(pairs: ["X-Large": [String(repeating: "x", count: 3_000)]])
        #expect(try await provider.request(target).headers[name]?.count == 3_000)
        let limited = Provider<Fields>(
            configuration: .init(limits: ProviderConfiguration.Limits(headerByteCount: 2_000))
        )
        let small = Fields(pairs: ["X-Large": [String(repeating: "x", count: 1_950)]])
        #expect(await limited.failure(small)?.code == .limit(.headerBytes))
    }
}
