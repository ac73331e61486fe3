public import Foundation
public import PipelineCore

/// An error that describes why a ``FileCookieStore`` could not read or write its file.
///
/// **Secrets**: the texts contain the name of the file, but not its folder and nothing of its content.
public struct CookieStoreError: Error, Sendable, Hashable {
    /// The reason of a failure.
    public struct Code: Sendable, Hashable {
        fileprivate let text: String

        /// The file cannot be opened or read, is not a regular file, or belongs to another user.
        ///
        /// A symbolic link is not followed, because it might lead to a file of someone else.
        public static let unreadable = Code(text: "cannot be read")
        /// The file, its lock or its folder cannot be written; a full volume or a symbolic link is one reason.
        public static let notWritable = Code(text: "cannot be written")
        /// The file is larger than 16 MiB, or a change would make it so.
        public static let tooLarge = Code(text: "is larger than 16 MiB; remove accounts or the file")
        /// The file is damaged, is not a cookie file, or was written by another version of this package.
        ///
        /// The app may call ``CookieStore/remove(account:)`` with `nil`; all cookies are then lost.
        public static let malformed = Code(
            text: "is not an intact cookie file of this version; remove it to start without cookies"
        )
        /// The lock of the file, which other stores and processes take, was not free within 10 s.
        public static let locked = Code(text: "is locked by another store or process; try again later")
    }

    /// Why the file could not be read or written.
    public let code: Code
    private let fileName: String
    private let systemCode: POSIXErrorCode?

    /// Creates an error for the file with a path, and for the failure of the system that was its reason.
    init(_ code: Code, path: String, _ error: POSIXError? = nil) {
        self.code = code
        fileName = String(path.split(separator: "/").last ?? "")
        systemCode = error?.code
    }
}

extension CookieStoreError: LocalizedError, SafelyDescribed {
    /// The name of the file, the reason, and the number of the system's error.
    public var description: String {
        let number = systemCode.map { " (errno \($0.rawValue))" } ?? ""
        let text = systemCode == .ELOOP ? "is a symbolic link; use the URL of the file that it leads to" : code.text
        return "the cookie file \(fileName.debugDescription) \(text)\(number)"
    }

    /// The same text as ``description``.
    public var errorDescription: String? { description }
}
