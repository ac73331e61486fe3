import Foundation
import Pipeline
import PipelineCaching
import PipelineTesting
import TestSupport
import Testing

@Suite("CachePlugin with a damaged folder", .watched)
struct CacheDiskTests {
    /// A temporary folder that is removed when its last reference is released.
    private final class Folder: Sendable {
        let parent = FileManager.default.temporaryDirectory.appending(path: "cache-\(UUID().uuidString)")
        var url: URL { parent.appending(path: "http") }

        init() throws { try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: false) }

        deinit { try? FileManager.default.removeItem(at: parent) }

        func files(_ suffix: String) throws -> [URL] {
            try FileManager.default.contentsOfDirectory(at: url, includingPropertiesForKeys: nil)
                .filter { $0.lastPathComponent.contains(suffix) }
        }
    }

    /// Damage that a folder gets after a response was stored.
    enum Damage: CaseIterable {
        case garbageInDatabase, truncatedBody, removedBody, removedFolder, fileInPlaceOfFolder
    }

    private func damage(_ folder: Folder, _ damage: Damage) throws {
        let manager = FileManager.default
        switch damage {
        case .garbageInDatabase:
            for file in try folder.files(".sqlite") { try Data("garbage".utf8).write(to: file) }
        case .truncatedBody:
            for file in try folder.files(".body") { try Data("short".utf8).write(to: file) }
        case .removedBody:
            for file in try folder.files(".body") { try manager.removeItem(at: file) }
        case .removedFolder:
            try manager.removeItem(at: folder.url)
        case .fileInPlaceOfFolder:
            try manager.removeItem(at: folder.url)
            try Data("file".utf8).write(to: folder.url)
        }
    }

    private func bench(_ folder: Folder) -> CacheBench {
        let fields = CacheBench.control("max-age=60")
        let transport = ScriptedTransport { _, index in
            .status(200, headers: fields, body: .bytes(Data(repeating: UInt8(index), count: 100_000)))
        }
        return CacheBench(transport, CachePlugin(store: DiskCacheStore(folder.url)))
    }

    private func number(_ bench: CacheBench) async throws -> UInt8? {
        let data = try await bench.response().data
        #expect(data.count == 100_000)
        return Set(data).count == 1 ? data.first : nil
    }

    @Test("A call succeeds after the folder of its store was damaged", arguments: Damage.allCases, [false, true])
    func damaged(_ damage: Damage, isNewStore: Bool) async throws {
        let folder = try Folder()
        let bench = bench(folder)
        #expect(try await number(bench) == 0)
        #expect(try await number(bench) == 0)
        try self.damage(folder, damage)
        let next = isNewStore ? self.bench(folder) : bench
        let first: UInt8 = isNewStore ? 0 : 1
        #expect(try await number(next) == first)
        let later = try await number(next)
        #expect(later == first || damage == .fileInPlaceOfFolder && later == first + 1)
    }

    @Test("Two stores of a folder, like two processes, share responses and changes")
    func shared() async throws {
        let folder = try Folder()
        let (first, second) = (bench(folder), bench(folder))
        #expect(try await number(first) == 0)
        #expect(try await second.response().cacheStatus?.kind == .hit)
        _ = try await second.response(Ask(method: .post))
        #expect(try await first.response(Ask(), .onlyIfCached).statusCode == 504)
        #expect(try await number(first) == 1)
        try await second.provider.signOut()
        #expect(try await first.response(Ask(), .onlyIfCached).statusCode == 504)
        #expect(try folder.files(".body").isEmpty)
    }

    @Test("No file contains a credential, a cookie, a URL or the value of a field that Vary names")
    func secrets() async throws {
        let folder = try Folder()
        let words = ["canary-token", "canary-sent", "canary-set", "canary-account", "canary-query", "canary-vary"]
        let more: HTTPFields = [.vary: "X-Vary, Authorization", .setCookie: "a=\(words[2])"]
        let fields = CacheBench.control("max-age=60", more)
        let transport = ScriptedTransport { _, _ in .status(200, headers: fields, body: .bytes(Data(count: 100_000))) }
        // An open store does not remove the files beside its database.
        let store = DiskCacheStore(folder.url)
        for account in [nil, words[3]] as [String?] {
            let plugin = account.map { name in CachePlugin(store: store, account: { _ in name }) }
            let bench = CacheBench(transport, plugin ?? CachePlugin(store: store))
            let headers = ["Authorization": words[0], "Cookie": "a=\(words[1])", "X-Vary": words[5]]
            let ask = Ask(url: "https://a.test/b?q=\(words[4])", path: "", headers: headers)
            _ = try await bench.response(ask)
            #expect(try await bench.response(ask).cacheStatus?.kind == .hit)
        }
        let files = try FileManager.default.contentsOfDirectory(at: folder.url, includingPropertiesForKeys: nil)
        #expect(files.contains { $0.lastPathComponent.contains(".body") })
        for file in files {
            let content = try Data(contentsOf: file)
            for word in words { #expect(content.firstRange(of: Data(word.utf8)) == nil, "\(word) in \(file)") }
        }
        try await store.remove(account: nil)
    }
}
