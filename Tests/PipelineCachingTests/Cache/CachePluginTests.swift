import Foundation
import Pipeline
import PipelineCaching
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("CachePlugin", .tags(.concurrent), .watched)
struct CachePluginTests {
    @Test("The plugin passes the conformance suite, with one account and with several", arguments: [false, true])
    func conformance(hasAccounts: Bool) async {
        // The account decides who shares responses, so each call of the suite needs its own.
        let count = Atomic(0)
        let suite = PluginConformance {
            hasAccounts
                ? CachePlugin(account: { _ in "\(count.add(1, ordering: .relaxed).newValue)" }) : CachePlugin()
        }
        let found = await suite.run()
        #expect(found == [])
    }

    // MARK: Reuse

    @Test("RFC 9111 §4.2: a fresh response is reused without an exchange, and a stale one is not")
    func freshness() async throws {
        let bench = CacheBench(CacheBench.control("max-age=60"))
        #expect(try await bench.get() == "1 miss")
        bench.clock.advance(by: .seconds(59))
        let hit = try await bench.response()
        #expect(hit.data == Data("1".utf8))
        #expect(hit.source == .cache)
        #expect(hit.exchanges.isEmpty)
        #expect(hit.headers[.age] == "59")
        #expect(hit.cacheStatus?.fieldValue == "Pipeline; hit; ttl=1")
        bench.clock.advance(by: .seconds(1))
        #expect(try await bench.get() == "2 miss")
        #expect(bench.transport.sent.count == 2)
    }

    @Test("RFC 9111 §4.3: a stale response that the origin confirms is reused and fresh again")
    func revalidation() async throws {
        let bench = CacheBench(CacheBench.control("max-age=60", [.eTag: "\"v\""]))
        #expect(try await bench.get() == "1 miss")
        bench.clock.advance(by: .seconds(60))
        let response = try await bench.response()
        #expect(response.statusCode == 200)
        #expect(response.data == Data("1".utf8))
        #expect(response.cacheStatus?.kind == .revalidated)
        #expect(response.cacheStatus?.fieldValue == "Pipeline; fwd=stale; fwd-status=304; ttl=60")
        #expect(bench.transport.sent.last?.headers[.ifNoneMatch] == "\"v\"")
        bench.clock.advance(by: .seconds(59))
        #expect(try await bench.get() == "1 hit")
    }

    @Test("RFC 9111 §4.1: responses are reused only for requests with the fields that Vary names")
    func vary() async throws {
        let bench = CacheBench(CacheBench.control("max-age=60", [.vary: "Accept-Language"]))
        let (german, french) = (Ask(headers: ["Accept-Language": "de"]), Ask(headers: ["Accept-Language": "fr"]))
        #expect(try await bench.get(german) == "1 miss")
        let second = try await bench.response(french)
        #expect(second.cacheStatus?.reason == "vary-miss")
        #expect(try await bench.get(german) == "1 hit")
        #expect(try await bench.get(french) == "2 hit")
        #expect(try await bench.get() == "3 miss")
    }

    @Test("A compressed response is reused only for requests with the same Accept-Encoding, also without Vary")
    func encoding() async throws {
        let bench = CacheBench(CacheBench.control("max-age=60", [.contentEncoding: "gzip"]))
        let gzip = Ask(headers: ["Accept-Encoding": "gzip"])
        #expect(try await bench.get(gzip) == "1 miss")
        #expect(try await bench.get() == "2 miss")
        #expect(try await bench.get(gzip) == "1 hit")
    }

    @Test("RFC 10008 §2.7: a response to QUERY is reused only for the same content")
    func query() async throws {
        let bench = CacheBench(CacheBench.control("max-age=60"))
        func ask(_ content: String) throws -> Ask {
            Ask(method: try #require(HTTPRequest.Method(rawValue: "QUERY")), task: .requestData(Data(content.utf8)))
        }
        #expect(try await bench.get(ask("a")) == "1 miss")
        #expect(try await bench.get(ask("b")) == "2 miss")
        #expect(try await bench.get(ask("a")) == "1 hit")
        #expect(try await bench.get() == "3 miss")
    }

    @Test("RFC 9110 §9.3.2: the response to HEAD is made from a stored response to GET")
    func head() async throws {
        let bench = CacheBench(CacheBench.control("max-age=60"))
        #expect(try await bench.get() == "1 miss")
        let response = try await bench.response(Ask(method: .head))
        #expect(response.data.isEmpty)
        #expect(response.cacheStatus?.kind == .hit)
        #expect(bench.transport.sent.count == 1)
    }

    @Test("RFC 9111 §4.4: a successful unsafe request removes the responses of its URL, and a failed one does not")
    func invalidation() async throws {
        let status = Mutex(200)
        let fields = CacheBench.control("max-age=60")
        let transport = ScriptedTransport { request, index in
            let code = request.method == .get ? 200 : status.withLock { $0 }
            return .status(code, headers: fields, body: "\(index + 1)")
        }
        let bench = CacheBench(transport)
        #expect(try await bench.get() == "1 miss")
        status.withLock { $0 = 500 }
        #expect(try await bench.get(Ask(method: .post)) == "2 bypass")
        #expect(try await bench.get() == "1 hit")
        status.withLock { $0 = 200 }
        _ = try await bench.get(Ask(method: .post))
        #expect(try await bench.get() == "4 miss")
    }

    @Test("A response to a request that began before an unsafe request ended is not stored")
    func invalidationInFlight() async throws {
        let fields = CacheBench.control("max-age=600")
        let transport = ScriptedTransport { request, index in
            let step = ScriptedTransport.Step.status(200, headers: fields, body: "\(index + 1)")
            return index == 0 ? .delayed(.seconds(10), step) : step
        }
        let bench = CacheBench(transport)
        async let old = bench.get()
        try await bench.clock.waitForSleepers()
        _ = try await bench.get(Ask(method: .post))
        bench.clock.advance(by: .seconds(10))
        #expect(try await old == "1 miss")
        #expect(try await bench.get() == "3 miss")
    }

    @Test("A redirect is stored, and its target is looked up on its own")
    func redirect() async throws {
        let transport = ScriptedTransport { request, index in
            guard request.path == "/b" else {
                return .status(200, headers: CacheBench.control("max-age=10"), body: "\(index + 1)")
            }
            return .status(301, headers: CacheBench.control("max-age=100", [.location: "/c"]))
        }
        let bench = CacheBench(transport)
        #expect(try await bench.get() == "2 miss")
        #expect(try await bench.get() == "2 hit")
        bench.clock.advance(by: .seconds(10))
        #expect(try await bench.get() == "3 miss")
        #expect(transport.sent.map(\.path) == ["/b", "/c", "/c"])
    }

    @Test("A stored response contains no Set-Cookie")
    func cookies() async throws {
        let bench = CacheBench(CacheBench.control("max-age=60", [.setCookie: "id=1"]))
        #expect(try await bench.response().headers[.setCookie] == "id=1")
        #expect(try await bench.response().headers[.setCookie] == nil)
    }

    // MARK: Policies

    @Test("The option cachePolicy decides how a call uses the cache")
    func policies() async throws {
        let bench = CacheBench(CacheBench.control("max-age=60", [.eTag: "\"v\""]))
        #expect(try await bench.response(Ask(), .onlyIfCached).statusCode == 504)
        #expect(try await bench.get(Ask(), .noStore) == "1 bypass")
        #expect(try await bench.response(Ask(), .onlyIfCached).statusCode == 504)
        #expect(try await bench.get() == "2 miss")
        #expect(try await bench.get(Ask(), .onlyIfCached) == "2 hit")
        #expect(try await bench.get(Ask(), .revalidate) == "2 revalidated")
        #expect(try await bench.get(Ask(), .reload) == "4 miss")
        bench.clock.advance(by: .seconds(1_000_000))
        #expect(try await bench.response(Ask(), .onlyIfCached).statusCode == 504)
        #expect(try await bench.get(Ask(), .offline) == "4 stale")
        #expect(try await bench.response(Ask(path: "/other"), .offline).statusCode == 504)
        #expect(bench.transport.sent.count == 4)
    }

    // MARK: Stale responses

    @Test("RFC 5861 §3: a stale response is served at once and revalidated once in the background")
    func staleWhileRevalidate() async throws {
        let bench = CacheBench(CacheBench.control("max-age=60, stale-while-revalidate=60"))
        #expect(try await bench.get() == "1 miss")
        bench.clock.advance(by: .seconds(61))
        let statuses = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 1...10 { group.addTask { try await bench.get() } }
            return try await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(statuses.isSubset(of: ["1 stale", "2 hit"]))
        #expect(await bench.provider.drain(within: .seconds(1)))
        #expect(try await bench.get() == "2 hit")
        #expect(bench.transport.sent.count == 2)
    }

    @Test("RFC 5861 §4: a stale response replaces a failure as long as stale-if-error allows it")
    func staleIfError() async throws {
        let isUp = Mutex(true)
        let fields = CacheBench.control("max-age=60, stale-if-error=60")
        let bench = CacheBench(
            ScriptedTransport { _, index in
                isUp.withLock { $0 } ? .status(200, headers: fields, body: "\(index)") : .failure(.connectionLost)
            }
        )
        #expect(try await bench.get() == "0 miss")
        isUp.withLock { $0 = false }
        bench.clock.advance(by: .seconds(119))
        let stale = try await bench.response()
        #expect(stale.cacheStatus?.description == "stale (stale-if-error), stale for 59 s")
        bench.clock.advance(by: .seconds(2))
        await #expect(throws: PipelineError.self) { try await bench.get() }
    }

    // MARK: Bodies

    @Test("A streamed body is stored while it is read, and served as a whole")
    func streaming() async throws {
        let pieces = (1...100).map { Data(repeating: UInt8($0), count: 1_000) }
        let bench = CacheBench(
            ScriptedTransport(
                always: .status(
                    200,
                    headers: CacheBench.control("max-age=60"),
                    body: .stream(replaying: { AsyncStream(pieces) })
                )
            )
        )
        var read = Data()
        for try await piece in try await bench.provider.stream(Ask()).body { read += piece }
        #expect(read == Data(pieces.joined()))
        let hit = try await bench.response()
        #expect(hit.data == read)
        #expect(bench.transport.sent.count == 1)
    }

    @Test("RFC 9111 §3.3: a body that is shorter than announced is not stored as a whole")
    func truncated() async throws {
        let fields = CacheBench.control("max-age=60", [.contentLength: "10"])
        let bench = CacheBench(
            ScriptedTransport(
                always: .status(200, headers: fields, body: .stream(replaying: { AsyncStream([Data("123".utf8)]) }))
            )
        )
        _ = try? await bench.response()
        _ = try? await bench.response()
        #expect(bench.transport.sent.count == 2)
    }

    @Test("RFC 9111 §3.4: after an interrupted response with a strong ETag, only the rest is requested")
    func resumed() async throws {
        struct Interruption: Error {}
        let fields = CacheBench.control("max-age=60", [.eTag: "\"v\"", .contentLength: "6"])
        let transport = ScriptedTransport { request, index in
            guard index > 0 else {
                let body = AsyncThrowingStream<Data, any Error> { stream in
                    stream.yield(Data("123".utf8))
                    stream.finish(throwing: Interruption())
                }
                return .status(200, headers: fields, body: .stream(body, byteCount: 6))
            }
            var rest = fields
            rest[.contentRange] = "bytes 3-5/6"
            rest[.contentLength] = "3"
            return .status(206, headers: rest, body: "456")
        }
        let bench = CacheBench(transport)
        await #expect(throws: (any Error).self) { try await bench.response() }
        let response = try await bench.response()
        #expect(transport.sent.last?.headers[.range] == "bytes=3-")
        #expect(response.statusCode == 200)
        #expect(response.data == Data("123456".utf8))
        #expect(try await bench.get() == "123456 hit")
        #expect(transport.sent.count == 2)
    }

    @Test("RFC 9110 §14.2: a range is served from a stored response")
    func range() async throws {
        let transport = ScriptedTransport(
            always: .status(200, headers: CacheBench.control("max-age=60"), body: "0123456789")
        )
        let bench = CacheBench(transport)
        _ = try await bench.response()
        let part = try await bench.response(Ask(headers: ["Range": "bytes=2-4"]))
        #expect(part.statusCode == 206)
        #expect(part.data == Data("234".utf8))
        #expect(part.headers[.contentRange] == "bytes 2-4/10")
        #expect(transport.sent.count == 1)
    }

    @Test("If the transport decodes bodies, an ETag is validated as the origin sent it")
    func decodingTransport() async throws {
        let transport = ScriptedTransport(decodesContent: true) { request, _ in
            let fields = CacheBench.control("max-age=60", [.eTag: "\"v\""])
            return request.headers.contains(.ifNoneMatch)
                ? .status(304, headers: fields) : .status(200, headers: fields, body: "1")
        }
        let bench = CacheBench(transport)
        _ = try await bench.response()
        bench.clock.advance(by: .seconds(60))
        #expect(try await bench.get() == "1 revalidated")
        #expect(try await bench.get() == "1 hit")
        #expect(transport.sent.count == 2)
        #expect(transport.sent.last?.headers[.ifNoneMatch] == "\"v\"")
    }

    // MARK: Together

    @Test("100 equal cold calls make one exchange with DeduplicationPlugin outside")
    func deduplication() async throws {
        let fields = CacheBench.control("max-age=60")
        let bench = CacheBench(
            ScriptedTransport { _, index in
                .delayed(.seconds(1), .status(200, headers: fields, body: "\(index)"))
            },
            outside: [DeduplicationPlugin()]
        )
        let bodies = try await withThrowingTaskGroup(of: Data.self) { group in
            for _ in 1...100 { group.addTask { try await bench.response().data } }
            try await bench.clock.waitForSleepers()
            bench.clock.advance(by: .seconds(1))
            return try await group.reduce(into: Set<Data>()) { $0.insert($1) }
        }
        #expect(bodies == [Data("0".utf8)])
        #expect(bench.transport.sent.count == 1)
    }

    @Test("The standard stack with cookies and a cache has no finding")
    func order() {
        let stack = PluginStack.standard(.cookies(), .cache()) {
            AccessTokenPlugin { _ in "t" }
        }
        let provider = Provider<Ask>(transport: ScriptedTransport([]), plugins: [stack])
        #expect(provider.explain().findings.isEmpty, "\(provider.explain())")
    }
}

extension AsyncStream where Element == Data {
    init(_ pieces: [Data]) {
        self.init { stream in
            for piece in pieces { stream.yield(piece) }
            stream.finish()
        }
    }
}

@Suite("Provider.responses and Provider.signOut", .watched)
struct CacheSessionTests {
    private func bodies(_ bench: CacheBench) async throws -> [String] {
        var bodies: [String] = []
        for try await response in bench.provider.responses(Ask()) {
            bodies.append(String(decoding: response.data, as: UTF8.self))
        }
        return bodies
    }

    @Test("Without a stored response, there is one response; with one, the second follows if it differs")
    func responses() async throws {
        let version = Mutex("a")
        let transport = ScriptedTransport { request, _ in
            let version = version.withLock { $0 }
            let fields = CacheBench.control("max-age=60", [.eTag: "\"\(version)\""])
            if request.headers[.ifNoneMatch] == "\"\(version)\"" { return .status(304, headers: fields) }
            return .status(200, headers: fields, body: version)
        }
        let bench = CacheBench(transport)
        #expect(try await bodies(bench) == ["a"])
        #expect(try await bodies(bench) == ["a"])
        bench.clock.advance(by: .seconds(1_000))
        version.withLock { $0 = "b" }
        #expect(try await bodies(bench) == ["a", "b"])
        #expect(transport.sent.count == 3)
    }

    @Test("A target that does not accept a 504 gets the response of the origin if nothing is stored")
    func responsesValidated() async throws {
        let bench = CacheBench(CacheBench.control("max-age=60"))
        var count = 0
        for try await response in bench.provider.responses(Ask(validationType: .successCodes)) {
            #expect(response.statusCode == 200)
            count += 1
        }
        #expect(count == 1)
        #expect(bench.transport.sent.count == 1)
    }

    @Test("A second response with the same body but another status follows")
    func responsesStatus() async throws {
        let fields = CacheBench.control("max-age=60")
        let transport = ScriptedTransport([
            .status(200, headers: fields, body: "a"), .status(404, headers: fields, body: "a"),
        ])
        let bench = CacheBench(transport)
        _ = try await bench.get()
        #expect(try await bodies(bench) == ["a", "a"])
    }

    @Test("A stored response comes before the failure of the origin")
    func responsesOffline() async throws {
        let fields = CacheBench.control("max-age=60")
        let bench = CacheBench(ScriptedTransport([.status(200, headers: fields, body: "a"), .failure(.offline)]))
        _ = try await bench.get()
        var bodies: [Data] = []
        await #expect(throws: PipelineError.self) {
            for try await response in bench.provider.responses(Ask()) { bodies.append(response.data) }
        }
        #expect(bodies == [Data("a".utf8)])
    }

    @Test("After signOut, nothing that the user has left is used, and calls in progress leave nothing")
    func signOut() async throws {
        let fields = CacheBench.control("max-age=600", [.setCookie: "id=1; Max-Age=1000"])
        let transport = ScriptedTransport { request, index in
            let step = ScriptedTransport.Step.status(200, headers: fields, body: "\(index)")
            return request.path == "/slow" ? .delayed(.seconds(10), step) : step
        }
        let cookies = CookiePlugin()
        let bench = CacheBench(transport, CachePlugin(account: { _ in "a" }), outside: [cookies])
        #expect(try await bench.get() == "0 miss")
        #expect(try await bench.get() == "0 hit")
        async let slow = bench.get(Ask(path: "/slow"))
        try await bench.clock.waitForSleepers()
        try await bench.provider.signOut()
        bench.clock.advance(by: .seconds(10))
        _ = try await slow
        #expect(try await cookies.store.jar(account: "").cookies.isEmpty)
        #expect(try await bench.response(Ask(), .onlyIfCached).statusCode == 504)
        #expect(try await bench.response(Ask(path: "/slow"), .onlyIfCached).statusCode == 504)
    }

    @Test("The responses of one account can be removed")
    func removeAccount() async throws {
        let user = Mutex("a")
        let cache = CachePlugin(account: { _ in user.withLock { $0 } })
        let bench = CacheBench(CacheBench.control("max-age=60"), cache)
        _ = try await bench.get()
        user.withLock { $0 = "b" }
        _ = try await bench.get()
        try await cache.remove(account: "a")
        #expect(try await bench.get() == "2 hit")
        user.withLock { $0 = "a" }
        #expect(try await bench.get() == "3 miss")
    }
}
