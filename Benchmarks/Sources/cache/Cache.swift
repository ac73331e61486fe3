import CMemory
import Foundation
import Pipeline
import PipelineCaching

/// Measures hits and misses of `CachePlugin` with each store against calls without a cache.
///
/// `--redis PORT` also measures a Redis server on a loopback port. `--origin PORT` measures misses over AsyncHTTPClient
/// from a server on a loopback port, which must send a response that can be stored for every path.
@main
struct Cache {
    static func main() async throws {
        var arguments = Array(CommandLine.arguments.dropFirst())
        let isQuick = arguments.first == "--quick"
        if isQuick { arguments.removeFirst() }
        var ports: [String: Int] = [:]
        while arguments.count > 1, ["--redis", "--origin"].contains(arguments[0]), let port = Int(arguments[1]) {
            ports[arguments[0]] = port
            arguments.removeFirst(2)
        }
        guard arguments.isEmpty else {
            print("usage: cache [--quick] [--redis PORT] [--origin PORT]")
            exit(2)
        }
        let folder = URL.temporaryDirectory.appending(path: "cache-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        var stores: [(String, any CacheStore)] = [
            ("memory", MemoryCacheStore()), ("disk", DiskCacheStore(folder)),
        ]
        if let port = ports["--redis"] { stores.append(("Redis", RedisCacheStore(try RedisServer(port: port)))) }
        try await measureCalls(stores, rounds: isQuick ? 3 : 21, count: isQuick ? 200 : 2_000)
        if let port = ports["--origin"] {
            try await measureMisses(stores, from: port, rounds: isQuick ? 3 : 21, count: isQuick ? 100 : 1_000)
        }
        try await measureEntries(isQuick: isQuick)
        try await measureMemory(isQuick: isQuick)
    }

    // MARK: Calls

    @concurrent
    private static func measureCalls(_ stores: [(String, any CacheStore)], rounds: Int, count: Int) async throws {
        let none = provider([])
        let paths = (0..<count).map { "https://a.test/\($0)" }
        print("µs per call with a body of 1 KiB, median of \(rounds) rounds")
        print("store      stub      hit  added by a hit    miss  added by a miss")
        for (name, store) in stores {
            var times: [(stub: Double, hit: Double, miss: Double)] = []
            let cached = provider([CachePlugin(store: store)])
            for round in 0...rounds {
                try await store.remove(account: nil)
                let stub = try await time(none, paths)
                let miss = try await time(cached, paths)
                let hit = try await time(cached, paths)
                // The first round is a warm-up.
                if round > 0 { times.append((stub, hit, miss)) }
            }
            let values = [
                median(times.map(\.stub)), median(times.map(\.hit)), median(times.map { $0.hit - $0.stub }),
                median(times.map(\.miss)), median(times.map { $0.miss - $0.stub }),
            ]
            print(
                name.padding(toLength: 6, withPad: " ", startingAt: 0)
                    + values.map { column($0) }.joined(separator: "   ")
            )
        }
    }

    /// Measures misses over the network against the same exchanges without a cache.
    @concurrent
    private static func measureMisses(
        _ stores: [(String, any CacheStore)],
        from port: Int,
        rounds: Int,
        count: Int
    ) async throws {
        let none = Provider<URLTarget>(transport: AsyncHTTPClientTransport())
        let urls = (0..<count).map { "http://127.0.0.1:\(port)/\($0)" }
        print("\nµs per call from a server on loopback, median of \(rounds) rounds")
        print("store   without a cache    miss   ratio")
        for (name, store) in stores {
            var times: [(none: Double, miss: Double)] = []
            let cached = Provider<URLTarget>(
                transport: AsyncHTTPClientTransport(),
                plugins: [CachePlugin(store: store)]
            )
            for round in 0...rounds {
                try await store.remove(account: nil)
                let plain = try await time(none, urls)
                let miss = try await time(cached, urls)
                if round > 0 { times.append((plain, miss)) }
            }
            guard try await cached.request(URLTarget(urls[0])).cacheStatus?.kind == .hit else { throw Missing() }
            let values = [
                median(times.map(\.none)), median(times.map(\.miss)), median(times.map { $0.miss / $0.none }),
            ]
            print(
                name.padding(toLength: 6, withPad: " ", startingAt: 0)
                    + values.map { column($0) }.joined(separator: "   ")
            )
        }
    }

    private static func provider(_ plugins: [any PluginType]) -> Provider<URLTarget> {
        let fields: HTTPFields = [.cacheControl: "max-age=3600", .contentType: "text/plain"]
        let body = Data(repeating: 0x61, count: 1_024)
        return Provider(
            transport: Answer { request in
                PipelineResponse(request: request, statusCode: 200, headers: fields, data: body)
            },
            plugins: plugins
        )
    }

    private struct Answer: Transport {
        let decodesContent = false
        let respond: @Sendable (PipelineRequest) -> PipelineResponse

        func send(_ request: PipelineRequest, context: PipelineContext) async throws -> PipelineResponse {
            respond(request)
        }
    }

    /// Returns the microseconds per call.
    private static func time(_ provider: Provider<URLTarget>, _ urls: [String]) async throws -> Double {
        let start = ContinuousClock.now
        for url in urls { _ = try await provider.request(URLTarget(url)) }
        return microseconds(since: start) / Double(urls.count)
    }

    // MARK: Entries

    /// Measures whether a lookup takes longer if the store has more entries.
    @concurrent
    private static func measureEntries(isQuick: Bool) async throws {
        let counts = isQuick ? [100, 1_000] : [1_000, 100_000]
        print("\nµs per lookup, by the number of stored responses")
        for count in counts {
            let folder = URL.temporaryDirectory.appending(path: "cache-\(UUID().uuidString)")
            defer { try? FileManager.default.removeItem(at: folder) }
            let stores: [(String, any CacheStore)] = [
                ("memory", MemoryCacheStore(maximumByteCount: 1 << 30)),
                ("disk", DiskCacheStore(folder, maximumByteCount: 1 << 30)),
            ]
            for (name, store) in stores {
                for index in 0..<count { try await fill(store, index, byteCount: 100) }
                let lookups = 1_000
                var generator = SystemRandomNumberGenerator()
                let indices = (0..<lookups).map { _ in Int.random(in: 0..<count, using: &generator) }
                let start = ContinuousClock.now
                for index in indices {
                    guard try await store.entries(for: key(index)).count == 1 else { throw Missing() }
                }
                let time = microseconds(since: start) / Double(lookups)
                print(
                    name.padding(toLength: 8, withPad: " ", startingAt: 0)
                        + "\(count)".padding(toLength: 8, withPad: " ", startingAt: 0) + column(time)
                )
            }
        }
    }

    private struct Missing: Error {}

    private static func key(_ index: Int) -> CacheKey { CacheKey(resource: "resource-\(index)", account: "account") }

    private static func fill(_ store: any CacheStore, _ index: Int, byteCount: Int) async throws {
        let entry = CacheEntry(
            id: UUID(),
            key: key(index),
            statusCode: 200,
            headers: [.cacheControl: "max-age=3600", .contentType: "text/plain", .eTag: "\"\(index)\""],
            requestDate: .now,
            responseDate: .now
        )
        guard let writer = try await store.write(entry, byteCount: byteCount) else { throw Missing() }
        try await writer.append(Data(repeating: 0x61, count: byteCount))
        _ = try await writer.finish(totalByteCount: byteCount)
    }

    // MARK: Memory

    /// Measures the memory of a full store in proportion to its bound.
    @concurrent
    private static func measureMemory(isQuick: Bool) async throws {
        let bound = (isQuick ? 8 : 64) << 20
        print("\nallocated memory of a full MemoryCacheStore, in proportion to its bound of \(bound >> 20) MiB")
        for byteCount in [0, 1_000, 10_000, 100_000] {
            let before = Int(allocated_byte_count())
            let store = MemoryCacheStore(maximumByteCount: bound)
            for index in 0..<(3 * bound / (byteCount + 1_000)) { try await fill(store, index, byteCount: byteCount) }
            let growth = Double(Int(allocated_byte_count()) - before) / Double(bound)
            print("bodies of \(byteCount) bytes: " + String(format: "%.2f", growth))
            _ = await store.lookUp(key(0)).entries
        }
    }

    // MARK: Figures

    private static func microseconds(since start: ContinuousClock.Instant) -> Double {
        let duration = start.duration(to: .now).components
        return Double(duration.seconds) * 1e6 + Double(duration.attoseconds) / 1e12
    }

    private static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        return sorted.isEmpty ? 0 : sorted[sorted.count / 2]
    }

    private static func column(_ value: Double) -> String { String(format: "%8.2f", value) }
}
