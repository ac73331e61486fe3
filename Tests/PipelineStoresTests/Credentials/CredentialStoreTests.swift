import Foundation
import PipelineAuth
import PipelineStoreTesting
import PipelineTesting
import TestSupport
import Testing

@Suite("Credential stores", .tags(.concurrent), .watched)
struct CredentialStoreTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func fails(_ code: CredentialStoreError.Code, _ work: () async throws -> Void) async {
        let error = await #expect(throws: CredentialStoreError.self) { try await work() }
        #expect(error?.code == code)
        #expect("\(String(describing: error))".contains(folder.url.lastPathComponent) == false)
    }

    @Test("MemoryCredentialStore passes the conformance suite")
    func memory() async {
        let violations = await CredentialStoreConformance { MemoryCredentialStore() }.run()
        #expect(violations == [])
    }

    @Test("FileCredentialStore passes the conformance suite")
    func file() async {
        let violations = await CredentialStoreConformance { [folder] in
            FileCredentialStore(folder.file("\(UUID().uuidString)/credentials.json"))
        }.run()
        #expect(violations == [])
    }

    @Test("The conformance suite finds a store that forgets, and one that mixes up keys")
    func brokenStores() async {
        struct Forgetful: CredentialStore {
            func load(_ key: String) async throws -> Data? { nil }
            func save(_ credential: Data, for key: String) async throws {}
            func remove(_ key: String) async throws {}
        }
        struct Folding: CredentialStore {
            let inner = MemoryCredentialStore()
            func load(_ key: String) async throws -> Data? { inner.load(key.lowercased()) }
            func save(_ credential: Data, for key: String) async throws {
                inner.save(credential, for: key.lowercased())
            }
            func remove(_ key: String) async throws { inner.remove(key.lowercased()) }
        }
        let forgetful = await CredentialStoreConformance { Forgetful() }.run()
        #expect(Set(forgetful.map(\.check)) == ["roundTrip", "replacement", "removal", "keys", "concurrency"])
        #expect(Set(await CredentialStoreConformance { Folding() }.run().map(\.check)) == ["keys"])
    }

    @Test("The file has mode 0600 and a new folder mode 0700, and no temporary file remains")
    func modes() async throws {
        let store = FileCredentialStore(folder.file("new/credentials.json"))
        try await store.save(Data("secret".utf8), for: "a")
        #expect(try folder.mode(of: "new") == 0o700)
        #expect(try folder.mode(of: "new/credentials.json") == 0o600)
        #expect(
            Set(try FileManager.default.contentsOfDirectory(atPath: folder.file("new").path)) == [
                "credentials.json", "credentials.json.lock",
            ]
        )
        #expect("\(store)" == #"credentials in the file "credentials.json""#)
    }

    @Test("A file that other users can read or write is refused", arguments: [0o644, 0o660, 0o602, 0o640])
    func exposed(mode: Int) async throws {
        let store = FileCredentialStore(folder.file("c.json"))
        try await store.save(Data("secret".utf8), for: "a")
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: folder.file("c.json").path)
        await fails(.exposed) { _ = try await store.load("a") }
        await fails(.exposed) { try await store.save(Data(), for: "a") }
    }

    @Test(
        "A file that cannot be understood is refused and not overwritten",
        arguments: [
            "x", #"{"format": "pipeline-cookies", "version": 1, "credentials": {}}"#,
            #"{"format": "pipeline-credentials", "version": 2, "credentials": {}}"#,
        ]
    )
    func malformed(text: String) async throws {
        try folder.write(text, to: "c.json")
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: folder.file("c.json").path)
        let store = FileCredentialStore(folder.file("c.json"))
        await fails(.malformed) { _ = try await store.load("a") }
        await fails(.malformed) { try await store.save(Data(), for: "a") }
        await fails(.malformed) { try await store.remove("a") }
        #expect(folder.text(of: "c.json") == text)
    }

    @Test("A symbolic link is not followed, and a folder is not read")
    func links() async throws {
        try await FileCredentialStore(folder.file("real.json")).save(Data("1".utf8), for: "a")
        try FileManager.default.createSymbolicLink(
            at: folder.file("link.json"),
            withDestinationURL: folder.file("real.json")
        )
        await fails(.unreadable) { _ = try await FileCredentialStore(folder.file("link.json")).load("a") }
        try FileManager.default.createDirectory(at: folder.file("d"), withIntermediateDirectories: false)
        await fails(.unreadable) { _ = try await FileCredentialStore(folder.file("d")).load("a") }
        await fails(.notWritable) {
            try await FileCredentialStore(folder.file("real.json/c.json")).save(Data(), for: "a")
        }
    }

    @Test("Changes of two stores of one file are seen by both, and none is lost")
    func sharing() async throws {
        let stores = [FileCredentialStore(folder.file("c.json")), FileCredentialStore(folder.file("c.json"))]
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<40 {
                group.addTask { try await stores[index % 2].save(Data([UInt8(index)]), for: "\(index)") }
            }
            try await group.waitForAll()
        }
        for index in 0..<40 {
            #expect(try await stores[(index + 1) % 2].load("\(index)") == Data([UInt8(index)]))
        }
        try await stores[0].remove("1")
        #expect(try await stores[1].load("1") == nil)
    }
}
