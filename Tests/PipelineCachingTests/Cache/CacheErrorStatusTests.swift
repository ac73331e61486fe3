import Foundation
import Pipeline
import PipelineCaching
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("CachePlugin: errors and what is stored", .watched)
struct CacheErrorStatusTests {
    /// A cache with a stored response that is stale, in front of a server that then responds with an error.
    private func bench(_ error: ScriptedTransport.Step, stored: String = "max-age=60") async throws -> CacheBench {
        let bench = CacheBench(
            ScriptedTransport { _, index in
                index == 1 ? error : .status(200, headers: CacheBench.control(stored, [.eTag: "\"a\""]), body: "good")
            }
        )
        _ = try await bench.get()
        bench.clock.advance(by: .seconds(61))
        return bench
    }

    @Test("K08: statuses that RFC 6585 forbids to store are not stored", arguments: [428, 429, 431, 511])
    func forbidden(status: Int) async throws {
        let bench = CacheBench(
            ScriptedTransport(always: .status(status, headers: CacheBench.control("max-age=60"), body: "x"))
        )
        _ = try await bench.get()
        _ = try await bench.get()
        #expect(bench.transport.sent.count == 2)
    }

    @Test(
        "K08, K06: an error without a word about storing neither replaces nor removes what is stored",
        arguments: [401, 403, 405, 407, 408, 414, 421, 425, 428, 429, 431, 500, 501, 503]
    )
    func kept(status: Int) async throws {
        let modified: HTTPFields = [.lastModified: "Wed, 01 Jan 2020 00:00:00 GMT"]
        let bench = try await bench(.status(status, headers: modified, body: "error"))
        let response = try await bench.response()
        #expect(response.statusCode == status)
        let offline = try await bench.response(Ask(), .offline)
        #expect(offline.statusCode == 200)
        #expect(try offline.mapString() == "good")
    }

    @Test("K06: a success, a redirect, 404 and 410 replace or remove it", arguments: [200, 301, 404, 410])
    func replaced(status: Int) async throws {
        let bench = try await bench(.status(status, headers: CacheBench.control("no-store"), body: "new"))
        _ = try await bench.response()
        #expect(try await bench.response(Ask(), .offline).statusCode == 504)
    }

    @Test("K08: an error whose origin says how long it may be stored replaces it")
    func explicit() async throws {
        let bench = try await bench(.status(503, headers: CacheBench.control("max-age=10"), body: "down"))
        _ = try await bench.response()
        #expect(try await bench.response(Ask(), .offline).statusCode == 503)
    }
}
