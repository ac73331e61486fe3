#if canImport(Security)
public import Foundation
import PipelineFiles
public import PipelineCore
import Security

/// A store that keeps credentials in the data protection keychain.
///
/// ```swift
/// let store = KeychainCredentialStore(service: "com.example.reports")
/// ```
///
/// **Effects**: each credential is a generic password of the service, with the key as its account. It can be read after
/// the first unlock, and does not leave the device. On macOS, the program needs an entitlement for keychain access
/// groups. Reads and writes run on a queue of the store.
///
/// **Errors**: ``CredentialStoreError``, with the status of the keychain as its number.
public actor KeychainCredentialStore: CredentialStore {
    private let executor = BlockingExecutor(label: "pipeline.keychain")
    /// The queue on which the store reads and writes.
    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private let service: String
    private let accessGroup: String?

    /// Creates a store.
    ///
    /// - Parameters:
    ///   - service: the name of the program's items in the keychain.
    ///   - accessGroup: the group of apps that share the items. With `nil`, new items belong to the app's first group,
    ///     and items are read, replaced and removed in all of its groups.
    public init(service: String, accessGroup: String? = nil) {
        self.service = service
        self.accessGroup = accessGroup
    }

    /// Returns the credential under a key; `nil` if there is none.
    ///
    /// - Throws: ``CredentialStoreError``.
    public func load(_ key: String) throws -> Data? {
        var query = item(key)
        query[kSecReturnData as String] = true
        query[kSecMatchLimit as String] = kSecMatchLimitOne
        var result: CFTypeRef?
        switch SecItemCopyMatching(query as CFDictionary, &result) {
        case errSecSuccess: return result as? Data
        case errSecItemNotFound: return nil
        case let status: throw CredentialStoreError(.unreadable, service, Int(status))
        }
    }

    /// Stores a credential under a key.
    ///
    /// - Throws: ``CredentialStoreError``.
    public func save(_ credential: Data, for key: String) throws {
        let values: [String: Any] = [
            kSecValueData as String: credential,
            kSecAttrAccessible as String: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
        ]
        var status = SecItemUpdate(item(key) as CFDictionary, values as CFDictionary)
        if status == errSecItemNotFound {
            status = SecItemAdd(item(key).merging(values) { $1 } as CFDictionary, nil)
            // Another process may have added it meanwhile.
            if status == errSecDuplicateItem {
                status = SecItemUpdate(item(key) as CFDictionary, values as CFDictionary)
            }
        }
        guard status == errSecSuccess else { throw CredentialStoreError(.notWritable, service, Int(status)) }
    }

    /// Removes the credential under a key; does nothing if there is none.
    ///
    /// - Throws: ``CredentialStoreError``.
    public func remove(_ key: String) throws {
        let status = SecItemDelete(item(key) as CFDictionary)
        guard status == errSecSuccess || status == errSecItemNotFound else {
            throw CredentialStoreError(.notWritable, service, Int(status))
        }
    }

    private func item(_ key: String) -> [String: Any] {
        var item: [String: Any] = [
            kSecClass as String: kSecClassGenericPassword,
            kSecAttrService as String: service,
            kSecAttrAccount as String: key,
            kSecUseDataProtectionKeychain as String: true,
        ]
        if let accessGroup { item[kSecAttrAccessGroup as String] = accessGroup }
        return item
    }
}

extension KeychainCredentialStore: SafelyDescribed {
    /// The name of the service.
    public nonisolated var description: String { "credentials in the keychain under \(service.debugDescription)" }
}
#endif
