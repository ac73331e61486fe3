import Foundation
import Pipeline
import PipelineCaching
import PipelineTesting
import TestSupport
import Testing

/// Two plugins with one store, as in two processes: each knows only its own changes.
@Suite("CachePlugin with a store that another process changes", .watched)
struct CacheSharedStoreTests {
    /// What the other process does while a response is in flight.
    enum Change: CaseIterable {
        case post, postElsewhere, signOut, nothing

        /// Whether a response to an earlier request is outdated.
        var isOfResource: Bool { self == .post || self == .signOut }
    }

    private static let fresh = CacheBench.control("max-age=600", [.eTag: "\"1\"", .contentLength: "6"])
    private let store = MemoryCacheStore()
    private let other: CacheBench

    init() { other = CacheBench(Self.origin(), CachePlugin(store: store)) }

    private static func origin() -> ScriptedTransport {
        ScriptedTransport { _, index in .status(200, headers: fresh, body: "body-\(index + 1)") }
    }

    private func apply(_ change: Change) async throws {
        switch change {
        case .post: _ = try await other.response(Ask(method: .post))
        case .postElsewhere: _ = try await other.response(Ask(path: "/elsewhere", method: .post))
        case .signOut: try await other.provider.signOut()
        case .nothing: break
        }
    }

    /// What the other process gets from the store: the body, or the status if nothing is stored.
    private func stored() async throws -> String {
        let response = try await other.response(Ask(), .offline)
        return response.statusCode == 200 ? String(decoding: response.data, as: UTF8.self) : "\(response.statusCode)"
    }

    @Test(
        "K05: a buffered response is not stored if another process has changed its URL",
        arguments: Change.allCases,
        [false, true]
    )
    func buffered(_ change: Change, isWrapped: Bool) async throws {
        let store: any CacheStore = isWrapped ? WatchedStore(store) { _ in } : store
        let apply = PluginStack.exchange(name: "Other process") { request, _, send in
            let response = try await send(request)
            try await self.apply(change)
            return response
        }
        let bench = CacheBench(Self.origin(), CachePlugin(store: store), inside: [apply])
        #expect(try await bench.get() == "body-1 miss")
        #expect(try await stored() == (change.isOfResource ? "504" : "body-1"))
        // A stored response that is fetched anew, during another change.
        #expect(try await bench.get(Ask(), .reload) == "body-2 miss")
        #expect(try await stored() == (change.isOfResource ? "504" : "body-2"))
    }

    @Test(
        "K05: a streamed response, or its beginning, is not stored if another process has changed its URL",
        arguments: Change.allCases,
        [false, true]
    )
    func streamed(_ change: Change, isInterrupted: Bool) async throws {
        struct Interruption: Error {}
        let (pieces, source) = AsyncThrowingStream<Data, any Error>.makeStream()
        let transport = ScriptedTransport { _, index in
            index == 0
                ? .status(200, headers: Self.fresh, body: .stream(pieces))
                : .status(200, headers: Self.fresh, body: "body-2")
        }
        let bench = CacheBench(transport, CachePlugin(store: store))
        var read = Data()
        source.yield(Data("body".utf8))
        do {
            for try await piece in try await bench.provider.stream(Ask()).body {
                read += piece
                guard read.count == 4 else { continue }
                try await apply(change)
                if isInterrupted {
                    source.finish(throwing: Interruption())
                } else {
                    source.yield(Data("-1".utf8))
                    source.finish()
                }
            }
            #expect(!isInterrupted)
        } catch is Interruption {}
        #expect(String(decoding: read, as: UTF8.self) == (isInterrupted ? "body" : "body-1"))
        let next = try await bench.response()
        let asksForRest = transport.sent.last?.headers[.range] != nil
        #expect(asksForRest == (isInterrupted && !change.isOfResource))
        #expect((next.source == .cache) == (!isInterrupted && !change.isOfResource))
    }

    @Test("K05: a response to a request that began after a change of another process is stored")
    func after() async throws {
        let bench = CacheBench(Self.origin(), CachePlugin(store: store))
        try await apply(.post)
        try await apply(.signOut)
        #expect(try await bench.response().cacheStatus?.isStored == true)
        #expect(try await bench.response().source == .cache)
    }
}
