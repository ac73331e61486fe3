import Foundation
import Pipeline
import PipelineCaching
import PipelineTesting
import TestSupport
import Testing

@Suite("CachePlugin and hostile servers", .watched)
struct CacheHostileServerTests {
    /// A provider that accepts header fields of up to 8 MiB.
    private func provider(_ transport: ScriptedTransport, _ plugins: [any PluginType]) -> Provider<Ask> {
        var limits = ProviderConfiguration.Limits()
        limits.headerByteCount = 8 << 20
        limits.headerCount = 20_000
        return Provider(
            transport: transport,
            plugins: plugins,
            configuration: .init(limits: limits, clock: ManualClock())
        )
    }

    private func kind(_ provider: Provider<Ask>, _ ask: Ask = Ask()) async throws -> CacheStatus.Kind? {
        try await provider.request(ask).cacheStatus?.kind
    }

    @Test("2,000 values of a field that Vary names leave 16 responses in the store")
    func manyValues() async throws {
        let store = MemoryCacheStore()
        let bench = CacheBench(CacheBench.control("max-age=60", [.vary: "X-Value"]), CachePlugin(store: store))
        for index in 1...2_000 { _ = try await bench.get(Ask(headers: ["X-Value": "\(index)"])) }
        #expect("\(store)".hasPrefix("16 responses"))
        #expect(try await bench.get(Ask(headers: ["X-Value": "2000"])) == "2000 hit")
        #expect(try await bench.get(Ask(headers: ["X-Value": "1"])) == "2001 miss")
    }

    @Test("A Vary with 10,000 names selects by each of them")
    func manyNames() async throws {
        let names = (1...10_000).map { "x\($0)" }.joined(separator: ", ")
        let fields = CacheBench.control("max-age=60", [.vary: names])
        let transport = ScriptedTransport { _, index in .status(200, headers: fields, body: "\(index)") }
        let provider = provider(transport, [CachePlugin()])
        #expect(try await kind(provider) == .miss)
        #expect(try await kind(provider) == .hit)
        #expect(try await kind(provider, Ask(headers: ["x9999": "a"])) == .miss)
        #expect(try await kind(provider, Ask(headers: ["other": "a"])) == .hit)
    }

    @Test("A response with a field of 1 MiB exceeds the limits, and is not stored")
    func largeField() async throws {
        let name = try #require(HTTPField.Name("X-Large"))
        let fields = CacheBench.control("max-age=60", [name: String(repeating: "a", count: 1 << 20)])
        let store = MemoryCacheStore()
        let bench = CacheBench(fields, CachePlugin(store: store))
        let error = await #expect(throws: PipelineError.self) { try await bench.get() }
        #expect(error?.code == .limit(.headerBytes))
        #expect("\(store)".hasPrefix("0 responses"))
    }

    @Test("If the limits permit a field of 1 MiB, it counts against the bound of the store")
    func permittedLargeField() async throws {
        let name = try #require(HTTPField.Name("X-Large"))
        let fields = CacheBench.control("max-age=60", [name: String(repeating: "a", count: 1 << 20)])
        let transport = ScriptedTransport(always: .status(200, headers: fields, body: "a"))
        let small = MemoryCacheStore(maximumByteCount: 1 << 20)
        let tooSmall = provider(transport, [CachePlugin(store: small)])
        for _ in 1...2 { #expect(try await kind(tooSmall) == .miss) }
        #expect("\(small)" == "0 responses in memory, 0 of 1048576 bytes")
        let large = provider(transport, [CachePlugin(store: MemoryCacheStore(maximumByteCount: 8 << 20))])
        #expect(try await kind(large) == .miss)
        let hit = try await large.request(Ask())
        #expect(hit.cacheStatus?.kind == .hit)
        #expect(hit.headers[name]?.utf8.count == 1 << 20)
    }

    @Test("10,000 cookies of a cacheable response reach the jar within its bounds, and not the store")
    func manyCookies() async throws {
        var fields = CacheBench.control("max-age=60")
        for index in 1...10_000 { fields.append(HTTPField(name: .setCookie, value: "n\(index)=v")) }
        let transport = ScriptedTransport { [fields] _, _ in .status(200, headers: fields, body: "a") }
        let cookies = CookiePlugin()
        let provider = provider(transport, [cookies, CachePlugin(account: { _ in "a" })])
        #expect(try await provider.request(Ask()).headers[values: .setCookie].count == 10_000)
        #expect(try await cookies.store.jar(account: "").cookies.count == 180)
        let hit = try await provider.request(Ask())
        #expect(hit.cacheStatus?.kind == .hit)
        #expect(hit.headers[.setCookie] == nil)
    }

    @Test("A field that a server reflects selects the response if Vary names it; with Vary: *, nothing is reused")
    func reflectedField() async throws {
        for vary in ["X-Forwarded-Host, X-Original-URL", "*"] {
            let fields = CacheBench.control("max-age=60", [.vary: vary])
            let transport = ScriptedTransport { request, _ in
                .status(200, headers: fields, body: request.header("X-Forwarded-Host") ?? "a.test")
            }
            let bench = CacheBench(transport)
            let poisoning = Ask(headers: ["X-Forwarded-Host": "evil.test"])
            #expect(try await bench.get(poisoning) == "evil.test miss")
            #expect(try await bench.get() == "a.test miss")
            #expect(try await bench.get() == (vary == "*" ? "a.test miss" : "a.test hit"))
        }
    }

    @Test("A request cannot name another host or content for a URL than the key of its response does")
    func unkeyed() async throws {
        let transport = ScriptedTransport { request, _ in
            let content = request.body.bytes.map { String(decoding: $0, as: UTF8.self) } ?? ""
            return .status(200, headers: CacheBench.control("max-age=60"), body: "of \(content)")
        }
        let bench = CacheBench(transport)
        let error = await #expect(throws: PipelineError.self) {
            try await bench.get(Ask(headers: ["Host": "evil.test"]))
        }
        #expect(error?.code == .invalidRequest(.headerValue))
        #expect(try await bench.get(Ask(task: .requestData(Data("evil".utf8)))) == "of evil miss")
        #expect(try await bench.get() == "of  miss")
        #expect(try await bench.get() == "of  hit")
    }

    @Test(
        "A response that depends on a condition or a range is not served to a plain request",
        arguments: [
            (412, "If-Match", "\"x\"", [:]), (416, "Range", "bytes=99-", [.contentRange: "bytes */10"]),
            (206, "Range", "bytes=0-0", [.contentRange: "bytes 0-0/10"]), (404, "Range", "bytes=0-0", [:]),
            (304, "If-None-Match", "\"x\"", [.eTag: "\"x\""]),
        ] as [(Int, String, String, HTTPFields)]
    )
    func conditional(status: Int, name: String, value: String, more: HTTPFields) async throws {
        let fields = CacheBench.control("max-age=60")
        let transport = ScriptedTransport { request, index in
            guard request.header(name) != nil else { return .status(200, headers: fields, body: "0123456789") }
            return .status(status, headers: CacheBench.control("max-age=60", more), body: status == 304 ? "" : "0")
        }
        let bench = CacheBench(transport)
        #expect(try await bench.response(Ask(headers: [name: value])).statusCode == status)
        let response = try await bench.response()
        #expect(response.statusCode == 200)
        #expect(response.data.count == 10)
    }
}
