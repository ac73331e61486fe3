import Foundation
import Pipeline
import TestSupport
import Testing

@Suite("httpbin: methods, paths and bytes", .besideHTTPBin, .realTime, .watched)
struct EchoTests {
    private let provider = Provider<Anything>()
    private let foundation = Provider<Anything>(transport: URLSessionTransport())

    @Test(
        "each method arrives as it was sent",
        arguments: [HTTPRequest.Method.get, .post, .put, .patch, .delete, .trace]
    )
    func methods(method: HTTPRequest.Method) async throws {
        let echo = try await provider.request(Anything(method: method), as: Echo.self)
        #expect(echo.method == method.rawValue)
        #expect(echo.data.isEmpty)
        #expect(echo.headers["Content-Type"] == nil)
    }

    @Test("HEAD gets the header fields of GET and no body")
    func head() async throws {
        let get = try await provider.request(Anything())
        let head = try await provider.request(Anything(method: .head))
        #expect(head.statusCode == 200)
        #expect(head.data.isEmpty)
        // The response contains the method, and HEAD is a letter longer than GET.
        #expect(head.headers[.contentLength] == String(get.data.count + 1))
        #expect(head.headers[.contentType] == "application/json")
    }

    @Test("OPTIONS returns the allowed methods")
    func options() async throws {
        let response = try await provider.request(Anything(method: .options))
        let allowed = try #require(response.headers[.allow]).split(separator: ",")
            .map { $0.trimmingCharacters(in: .whitespaces) }
        #expect(Set(allowed) == ["OPTIONS", "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "TRACE"])
    }

    @Test("a method that the server does not know gets an ordinary 405 response")
    func unknownMethod() async throws {
        let purge = try #require(HTTPRequest.Method("PURGE"))
        let response = try await provider.request(Anything(method: purge))
        #expect(response.statusCode == 405)
        #expect(try response.mapString().contains("Method Not Allowed"))
    }

    @Test(
        "a path is escaped once, and existing escapes are kept",
        arguments: [
            ("/a b", "/a%20b"), ("/a%20b", "/a%20b"), ("/Zoë/東京", "/Zoë/東京"), ("/50%25", "/50%"),
            ("/" + Endpoint.pathSegment("a?b=c"), "/a%3Fb=c"),
            ("/x#y", "/x%23y"), ("/a+b;c=d,e@f:g!$&'()*", "/a+b;c=d,e@f:g!$&'()*"), ("/a/./b/../c", "/a/c"),
            ("/t/", "/t/"),
        ]
    )
    func paths(path: String, seen: String) async throws {
        let echo = try await provider.request(Anything(below: path), as: Echo.self)
        #expect(echo.url == HTTPBin.url.absoluteString + "/anything" + seen)
        #expect(echo.args.isEmpty)
    }

    @Test("header fields of the target arrive")
    func headers() async throws {
        let target = Anything(headers: [
            "x-one": "1", "X-Two": "a, \"b\"; c=d", "Accept-Language": "de", "Accept": "text/x",
        ])
        let echo = try await provider.request(target, as: Echo.self)
        #expect(echo.headers["X-One"] == "1")
        #expect(echo.headers["X-Two"] == "a, \"b\"; c=d")
        #expect(echo.headers["Accept-Language"] == "de")
        #expect(echo.headers["Accept"] == "text/x")
    }

    @Test("a field in UTF-8 is sent byte for byte, and an empty one is sent empty")
    func unusualHeaders() async throws {
        let echo = try await provider.request(Anything(headers: ["X-City": "Zürich", "X-Empty": ""]), as: Echo.self)
        // httpbin reads fields as Latin-1.
        #expect(echo.headers["X-City"] == "Z\u{c3}\u{bc}rich")
        #expect(echo.headers["X-Empty"] == "")
    }

    // URLSession stores one value for each name of a request's fields.
    @Test("URLSession: request fields of one name arrive joined by a comma")
    func repeatedRequestFields() async throws {
        let name = try #require(HTTPField.Name("X-Many"))
        let provider = Provider<Anything>(
            plugins: [
                .prepare { request, _ in
                    request.headers.append(HTTPField(name: name, value: "1"))
                    request.headers.append(HTTPField(name: name, value: "2"))
                }
            ]
        )
        #expect(try await provider.request(Anything(), as: Echo.self).headers["X-Many"] == "1,2")
    }

    @Test(
        "bytes arrive without a Content-Type",
        arguments: [HTTPRequest.Method.post, .put, .patch, .delete]
    )
    func requestData(method: HTTPRequest.Method) async throws {
        let target = Anything(method: method, task: .requestData(binarySample))
        let echo = try await provider.request(target, as: Echo.self)
        #expect(bytes(ofDataURL: echo.data) == binarySample)
        #expect(echo.headers["Content-Type"] == nil)
        #expect(echo.headers["Content-Length"] == "1024")
        #expect(echo.form.isEmpty)
    }

    @Test("bytes arrive with the Content-Type of the target")
    func requestDataWithContentType() async throws {
        let text = "naïve ☃\r\n\u{1}\u{0}"
        let target = Anything(
            method: .post,
            task: .requestData(Data(text.utf8)),
            headers: ["Content-Type": "text/plain; charset=utf-8"]
        )
        let echo = try await provider.request(target, as: Echo.self)
        #expect(echo.data == text)
        #expect(echo.headers["Content-Type"] == "text/plain; charset=utf-8")
    }

    @Test("an empty body has a Content-Length of zero", arguments: [HTTPRequest.Method.post, .put, .patch])
    func emptyData(method: HTTPRequest.Method) async throws {
        let echo = try await provider.request(Anything(method: method, task: .requestData(Data())), as: Echo.self)
        #expect(echo.data.isEmpty)
        #expect(echo.headers["Content-Length"] == "0")
    }

    @Test("three mebibytes are sent and received")
    func largeData() async throws {
        let large = Data((0..<3 << 20).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 11) })
        let echo = try await provider.request(Anything(method: .post, task: .requestData(large)), as: Echo.self)
        #expect(bytes(ofDataURL: echo.data) == large)
    }

    // URLSession sends no body with GET or HEAD, on any platform.
    @Test("URLSession: a GET or HEAD with a body is refused", arguments: [HTTPRequest.Method.get, .head])
    func bodyOfGet(method: HTTPRequest.Method) async throws {
        let target = Anything(method: method, task: .requestData(Data("x".utf8)))
        #expect(await foundation.failure(target)?.code == .invalidRequest(.body))
    }

    @Test("a stream and a file that a plugin sets as the body arrive in full")
    func otherBodies() async throws {
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try binarySample.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let chunks = AsyncStream<Data> { continuation in
            for start in stride(from: 0, to: binarySample.count, by: 100) {
                continuation.yield(binarySample[start..<min(start + 100, binarySample.count)])
            }
            continuation.finish()
        }
        for body in [PipelineBody.file(file), .stream(chunks), .stream(byteCount: 1_024) { chunksOfSample() }] {
            let provider = Provider<Anything>(
                plugins: [.prepare { request, _ in request.body = body }]
            )
            let echo = try await provider.request(Anything(method: .put), as: Echo.self)
            #expect(bytes(ofDataURL: echo.data) == binarySample)
            #expect(echo.headers["Content-Length"] == (body.byteCount == nil ? lengthOfUnknown : "1024"))
        }
    }

    private func chunksOfSample() -> AsyncStream<Data> {
        AsyncStream { continuation in
            continuation.yield(binarySample)
            continuation.finish()
        }
    }
}
