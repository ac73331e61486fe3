public import Foundation
public import PipelineCore

/// An error that describes why a ``CacheStore`` could not read or store a response.
///
/// **Secrets**: the texts name the store, but contain no folder, no host, no password and nothing of a response.
public struct CacheStoreError: Error, Sendable, Hashable {
    /// The reason of a failure.
    public struct Code: Sendable, Hashable {
        fileprivate let text: String

        /// The store cannot be opened, or there is no connection to it.
        public static let unavailable = Code(text: "is unavailable; try again later")
        /// The store cannot be written; a read-only volume is one reason.
        public static let notWritable = Code(text: "cannot be written")
        /// The volume or the memory of the store is full.
        public static let full = Code(text: "has no space left")
        /// The store returned something that it cannot have stored.
        public static let corrupt = Code(text: "is damaged")
        /// The store has not responded in time, or another process has held its lock for too long.
        public static let timedOut = Code(text: "did not respond in time; try again later")
        /// The store denies access, or it is a symbolic link, which might lead to files of someone else.
        public static let notAllowed = Code(text: "denies access")
        /// The body is larger than the largest one that the store keeps.
        public static let tooLarge = Code(text: "does not keep bodies of this size")
        /// The writer has finished, failed or discarded its body before.
        public static let ended = Code(text: "has ended the body that was being written")
    }

    /// Why the store failed.
    public let code: Code
    private let store: String
    private let detail: String?

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: the reason.
    ///   - store: what failed, such as "the cache folder \"http\"", without secrets and folders.
    ///   - detail: what the system or the server reported, such as "errno 28", without secrets.
    init(_ code: Code, _ store: String, _ detail: String? = nil) {
        self.code = code
        self.store = store
        self.detail = detail
    }
}

extension CacheStoreError: LocalizedError, SafelyDescribed {
    /// The store, the reason, and what the system or the server reported.
    public var description: String { "\(store) \(code.text)\(detail.map { " (\($0))" } ?? "")" }

    /// The same text as ``description``.
    public var errorDescription: String? { description }
}
