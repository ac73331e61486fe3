public import Foundation

/// A place that keeps the credentials of a program between its runs.
///
/// A credential is a sequence of bytes under a key. Keys are compared character by character, and contain no secrets.
///
/// Run `CredentialStoreConformance` of `PipelineStoreTesting` against your own.
///
/// **Secrets**: the bytes are secret. A store must protect them from other users, and show them in no text.
public protocol CredentialStore: Sendable {
    /// Returns the credential under a key; `nil` if there is none.
    ///
    /// - Throws: an error if the store cannot be read.
    func load(_ key: String) async throws -> Data?

    /// Stores a credential under a key, in place of the one before.
    ///
    /// - Throws: an error if the store cannot be written; the previous credential then remains.
    func save(_ credential: Data, for key: String) async throws

    /// Removes the credential under a key; does nothing if there is none.
    ///
    /// - Throws: an error if the store cannot be written.
    func remove(_ key: String) async throws
}
