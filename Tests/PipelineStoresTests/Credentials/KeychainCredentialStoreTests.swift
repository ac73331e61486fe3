#if canImport(Security)
import Foundation
import PipelineAuth
import PipelineStoreTesting
import Security
import TestSupport
import Testing

@Suite("KeychainCredentialStore", .tags(.concurrent), .watched)
struct KeychainCredentialStoreTests {
    private static func makeStore() -> KeychainCredentialStore {
        KeychainCredentialStore(service: "com.example.pipeline.\(UUID().uuidString)")
    }

    /// Whether the test process may use the data protection keychain, which needs an entitlement on macOS.
    private static let isEntitled: Bool = {
        let query: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword, kSecAttrService as String: "com.example.pipeline",
            kSecUseDataProtectionKeychain as String: true,
        ]
        return SecItemCopyMatching(query as CFDictionary, nil) != errSecMissingEntitlement
    }()

    @Test("The store passes the conformance suite", .enabled(if: isEntitled, "needs an entitlement"))
    func conformance() async {
        let violations = await CredentialStoreConformance { Self.makeStore() }.run()
        #expect(violations == [])
    }

    @Test("A credential is stored, replaced and removed", .enabled(if: isEntitled, "needs an entitlement"))
    func values() async throws {
        let store = Self.makeStore()
        #expect(try await store.load("a") == nil)
        try await store.save(Data([1]), for: "a")
        try await store.save(Data([2]), for: "a")
        #expect(try await store.load("a") == Data([2]))
        try await store.remove("a")
        try await store.remove("a")
        #expect(try await store.load("a") == nil)
    }

    @Test("Without the entitlement, the error has the number of errSecMissingEntitlement", .disabled(if: isEntitled))
    func entitlement() async throws {
        let error = await #expect(throws: CredentialStoreError.self) {
            try await Self.makeStore().save(Data([1]), for: "a")
        }
        #expect(error?.description.contains("(\(errSecMissingEntitlement))") == true)
    }
}
#endif
