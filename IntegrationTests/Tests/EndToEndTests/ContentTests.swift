import Foundation
import Pipeline
import TestSupport
import Testing

@Suite("httpbin: kinds of content", .besideHTTPBin, .realTime, .watched)
struct ContentTests {
    private struct Page: HTTPBinTarget {
        var path: String
        var headers: [String: String]?
        var validationType: ValidationType { .successCodes }

        init(_ path: String, accept: String? = nil) {
            self.path = path
            headers = accept.map { ["Accept": $0] }
        }
    }

    private struct Token: DecodableTargetType, HTTPBinTarget {
        struct ResultType: Decodable { let uuid: UUID }
        var path: String { "/uuid" }
    }

    private struct Slide: Decodable, Equatable {
        let type: String
        let title: String
        let items: [String]?
    }

    private let provider = Provider<MultiTarget>()

    @Test("text is decoded in its charset")
    func text() async throws {
        let response = try await provider.request(Page("/encoding/utf8"))
        #expect(response.headers[.contentLength] == String(response.data.count))
        let text = try response.mapString()
        for part in ["∮ E⋅da = Q", "ሰማይ አይታረስ", "Οὐχὶ ταὐτὰ", "ᚻᛖ ᚳᚹᚫᚦ"] { #expect(text.contains(part)) }
    }

    @Test(
        "pages of text arrive with their type",
        arguments: [
            ("/html", "text/html; charset=utf-8", "Herman Melville - Moby-Dick"),
            ("/xml", "application/xml", "<title>Wake up to WonderWidgets!</title>"),
            ("/robots.txt", "text/plain", "Disallow: /deny"), ("/deny", "text/plain", "YOU SHOULDN'T BE HERE"),
            ("/base64/SFRUUEJJTiBpcyBhd2Vzb21l", "text/html; charset=utf-8", "HTTPBIN is awesome"),
            ("/links/10/3", "text/html; charset=utf-8", "<a href='/links/10/9'>9</a>"),
            ("/forms/post", "text/html; charset=utf-8", #"<form method="post" action="/post">"#),
        ]
    )
    func pages(path: String, type: String, part: String) async throws {
        let response = try await provider.request(Page(path))
        #expect(response.headers[.contentType] == type)
        #expect(try response.mapString().contains(part))
    }

    @Test("a redirect leads to the first page of links")
    func links() async throws {
        let response = try await provider.request(Page("/links/3"))
        #expect(response.request.path == "/links/3/0")
        #expect(try response.mapString().contains("0 <a href='/links/3/1'>1</a>"))
    }

    @Test(
        "images arrive byte for byte",
        arguments: [
            ("image/png", "/image/png", [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a], 8_090),
            ("image/jpeg", "/image/jpeg", [0xff, 0xd8, 0xff], 35_588),
            ("image/webp", "/image/webp", [0x52, 0x49, 0x46, 0x46], 10_568),
            ("image/svg+xml", "/image/svg", [0x3c], 8_984),
        ] as [(String, String, [UInt8], Int)]
    )
    func images(type: String, path: String, magic: [UInt8], byteCount: Int) async throws {
        let direct = try await provider.request(Page(path))
        #expect(direct.headers[.contentType]?.hasPrefix(type) == true)
        #expect(Array(direct.data.prefix(magic.count)) == magic)
        #expect(direct.data.count == byteCount)
        #expect(direct.headers[.contentLength] == String(byteCount))
        #expect(try await provider.request(Page("/image", accept: type)).data == direct.data)
    }

    @Test("an unacceptable image type fails with 406")
    func notAcceptable() async throws {
        let error = await #expect(throws: PipelineError.self) {
            try await provider.request(Page("/image", accept: "text/plain"))
        }
        #expect(error?.response?.statusCode == 406)
    }

    @Test("JSON maps by key path to values and text, and as a whole")
    func json() async throws {
        let response = try await provider.request(Page("/json"))
        #expect(try response.mapString(atKeyPath: "slideshow.title") == "Sample Slide Show")
        #expect(
            try response.mapString(atKeyPath: "slideshow.slides.1.items.0") == "Why <em>WonderWidgets</em> are great"
        )
        let slides = try response.map([Slide].self, atKeyPath: "slideshow.slides")
        #expect(slides.map(\.title) == ["Wake up to WonderWidgets!", "Overview"])
        #expect(slides.map { $0.items?.count } == [nil, 2])
        let all = try #require(try response.mapJSON() as? [String: Any])
        #expect(Array(all.keys) == ["slideshow"])
        let missing = #expect(throws: PipelineError.self) { try response.mapString(atKeyPath: "slideshow.price") }
        #expect(missing?.code == .mapping(.keyPath))
    }

    @Test("a body that is not JSON does not map")
    func notJSON() async throws {
        let error = await #expect(throws: PipelineError.self) {
            try await provider.request(Page("/html"), as: Slide.self)
        }
        #expect(error?.code == .mapping(.object))
        #expect(error?.response?.statusCode == 200)
    }

    @Test("a target that declares its result type gets it from a provider for many APIs")
    func decodable() async throws {
        let first = try await provider.requestDecoded(Token())
        let second = try await provider.request(Token(), as: UUID.self, atKeyPath: "uuid")
        #expect(first.uuid != second)
    }

    @Test("a completion handler is called once with the response")
    func completion() async throws {
        let outcome = await withCheckedContinuation { continuation in
            provider.request(Page("/json")) { continuation.resume(returning: $0) }
        }
        #expect(try outcome.get().statusCode == 200)
    }
}
