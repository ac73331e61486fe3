public import Foundation
public import PipelineCore

/// An error that describes why a credential could not be read or written.
///
/// **Secrets**: the text contains the name of the file, but not its folder and nothing of its content.
public struct CredentialStoreError: Error, Sendable, Hashable {
    /// The reason of a failure.
    public struct Code: Sendable, Hashable {
        fileprivate let text: String

        /// The store cannot be opened or read, is not a regular file, or belongs to another user.
        public static let unreadable = Code(text: "cannot be read")
        /// The store, its lock or its folder cannot be written.
        public static let notWritable = Code(text: "cannot be written")
        /// Other users can read or write the file, so its credentials may be known to them.
        public static let exposed = Code(
            text: "is accessible to other users; remove it and sign in, or set its mode to 0600"
        )
        /// The file is damaged, too large, or was written by another version of this package.
        public static let malformed = Code(text: "is not an intact credential file of this version; remove it")
        /// The lock of the file, which other stores and processes take, was not free within 10 s.
        public static let locked = Code(text: "is locked by another store or process; try again later")
    }

    /// Why the store could not be read or written.
    public let code: Code
    private let name: String
    private let systemCode: Int?

    init(_ code: Code, _ name: String, _ systemCode: Int? = nil) {
        self.code = code
        self.name = name
        self.systemCode = systemCode
    }
}

extension CredentialStoreError: LocalizedError, SafelyDescribed {
    /// The name of the store, the reason, and the number of the system's error.
    public var description: String {
        let number = systemCode.map { " (\($0))" } ?? ""
        return "the credential store \(name.debugDescription) \(code.text)\(number)"
    }

    /// The same text as ``description``.
    public var errorDescription: String? { description }
}
