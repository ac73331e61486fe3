public import Foundation
public import PipelineCore
import Synchronization

/// A store that keeps credentials in memory, as long as the store exists.
///
/// **Errors**: none.
public final class MemoryCredentialStore: CredentialStore {
    private let credentials = Mutex<[String: Data]>([:])

    /// Creates a store without credentials.
    public init() {}

    /// Returns the credential under a key; `nil` if there is none.
    public func load(_ key: String) -> Data? { credentials.withLock { $0[key] } }

    /// Stores a credential under a key.
    public func save(_ credential: Data, for key: String) { credentials.withLock { $0[key] = credential } }

    /// Removes the credential under a key.
    public func remove(_ key: String) { credentials.withLock { $0[key] = nil } }
}

extension MemoryCredentialStore: SafelyDescribed {
    /// What the store is; neither keys nor credentials.
    public var description: String { "credentials in memory" }
}
