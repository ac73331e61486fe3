import Foundation
import Pipeline
import PipelineCaching
import PipelineTesting
import TestSupport
import Testing

@Suite("CachePlugin and bodies that cannot be decoded", .watched)
struct CacheDamageTests {
    /// How a compressed body is damaged.
    enum Damage: CaseIterable {
        case half, checksum, trailing, otherCoding, bomb

        func apply(to gzip: Data) -> Data {
            switch self {
            case .half: gzip.prefix(gzip.count / 2)
            case .checksum: gzip.dropLast(8) + Data([0, 0, 0, 0]) + gzip.suffix(4)
            case .trailing: gzip + Data("trailing".utf8)
            case .otherCoding: Data("plain".utf8)
            case .bomb: GzipBytes.gzip(Data(count: 2 << 20))
            }
        }
    }

    private static let text = GzipBytes.json(100_000)

    /// An origin whose first response is damaged.
    private func origin(_ damage: Damage) -> ScriptedTransport {
        let fields = CacheBench.control("max-age=600", [.contentEncoding: "gzip", .eTag: "\"v\""])
        let gzip = GzipBytes.gzip(Self.text)
        return ScriptedTransport { _, index in
            .status(200, headers: fields, body: .bytes(index == 0 ? damage.apply(to: gzip) : gzip))
        }
    }

    /// Returns the bytes that a caller gets; `nil` if the body cannot be decoded.
    private func read(_ provider: Provider<Ask>, isStreamed: Bool) async throws -> Data? {
        do {
            guard isStreamed else { return try await provider.request(Ask()).data }
            return try await provider.stream(Ask()).body.reduce(into: Data()) { $0 += $1 }
        } catch let error as PipelineError {
            #expect(error.code.isKind(of: .contentCoding) || error.code == .limit(.decodedBytes))
            return nil
        }
    }

    @Test(
        "K07: a response that cannot be decoded does not stay in the cache, in each order of the plugins",
        arguments: Damage.allCases,
        [(false, false), (false, true), (true, false), (true, true)]
    )
    func received(_ damage: Damage, _ kind: (isCacheFirst: Bool, isStreamed: Bool)) async throws {
        let transport = origin(damage)
        let gzip = [GzipPlugin()]
        let bench =
            kind.isCacheFirst ? CacheBench(transport, inside: gzip) : CacheBench(transport, outside: gzip)
        #expect(try await read(bench.provider, isStreamed: kind.isStreamed) == nil)
        for _ in 1...2 { #expect(try await read(bench.provider, isStreamed: kind.isStreamed) == Self.text) }
        #expect(transport.sent.count == 2)
    }

    @Test(
        "K07: a stored response that cannot be decoded is removed by the call that finds it",
        arguments: [false, true]
    )
    func found(isStreamed: Bool) async throws {
        let store = MemoryCacheStore()
        let probe = CacheBench(origin(.half), outside: [GzipPlugin()])
        _ = try? await probe.response()
        let accepted = try #require(probe.transport.sent.first?.header("Accept-Encoding"))
        let transport = origin(.half)
        let plain = CacheBench(transport, CachePlugin(store: store))
        #expect(try await plain.response(Ask(headers: ["Accept-Encoding": accepted])).statusCode == 200)
        let decoding = CacheBench(transport, CachePlugin(store: store), outside: [GzipPlugin()])
        #expect(try await read(decoding.provider, isStreamed: isStreamed) == nil)
        #expect(transport.sent.count == 1)
        #expect(try await read(decoding.provider, isStreamed: isStreamed) == Self.text)
        #expect(transport.sent.count == 2)
    }
}
