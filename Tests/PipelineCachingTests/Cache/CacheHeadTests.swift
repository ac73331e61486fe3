import Pipeline
import PipelineCaching
import PipelineTesting
import TestSupport
import Testing

@Suite("RFC 9111 §4.3.5: responses to HEAD update what is stored", .watched)
struct CacheHeadTests {
    /// Responds with the ETag and the status that the request names.
    private static func makeBench(_ cache: CachePlugin = CachePlugin()) -> CacheBench {
        let transport = ScriptedTransport { request, index in
            let control = request.header("X-Control") ?? "max-age=60"
            let fields = CacheBench.control(control, [.eTag: request.header("X-Tag") ?? "\"v\""])
            let status = request.header("X-Status").flatMap { Int($0) } ?? 200
            return .status(status, headers: fields, body: request.method == .head ? "" : "\(index)")
        }
        return CacheBench(transport, cache)
    }

    private let bench = makeBench()

    private func head(_ headers: [String: String] = [:], _ other: CacheBench? = nil) async throws {
        let bench = other ?? bench
        bench.clock.advance(by: .seconds(50))
        let response = try await bench.response(Ask(method: .head, headers: headers), .reload)
        #expect(response.source == .network)
    }

    @Test("A response to HEAD that confirms the stored response makes it fresh again")
    func confirmed() async throws {
        #expect(try await bench.get() == "0 miss")
        try await head()
        bench.clock.advance(by: .seconds(50))
        #expect(try await bench.get() == "0 hit")
    }

    @Test("A response to HEAD with another ETag removes the stored response")
    func changed() async throws {
        #expect(try await bench.get() == "0 miss")
        try await head(["X-Tag": "\"w\""])
        #expect(try await bench.response(Ask(), .offline).statusCode == 504)
    }

    @Test("K03: a response to HEAD that forbids to store the response removes it")
    func forbidden() async throws {
        #expect(try await bench.get() == "0 miss")
        try await head(["X-Control": "no-store, max-age=600"])
        #expect(try await bench.response(Ask(), .offline).statusCode == 504)
    }

    @Test("K03: a HEAD response with private removes the stored response of a shared cache", arguments: [true, false])
    func privateResponse(isShared: Bool) async throws {
        let log = StoreLog()
        let cache = CachePlugin(store: WatchedStore { log.add($0) }, rules: isShared ? .shared : .private)
        let bench = Self.makeBench(cache)
        #expect(try await bench.get() == "0 miss")
        try await head(["X-Control": "private, max-age=600"], bench)
        #expect(try await bench.response(Ask(), .offline).statusCode == (isShared ? 504 : 200))
        #expect(log.count(of: .remove) == (isShared ? 1 : 0))
    }

    @Test("A response to HEAD with another status changes nothing", arguments: [404, 503])
    func failed(status: Int) async throws {
        #expect(try await bench.get() == "0 miss")
        try await head(["X-Status": "\(status)", "X-Tag": "\"w\""])
        #expect(try await bench.response().headers[.age] == "50")
    }
}
