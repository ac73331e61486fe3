public import Foundation
public import PipelineRedaction

/// An error that describes why a ``FileCookieStore`` could not read or write its file.
///
/// **Secrets**: the texts contain the name of the file, but not its folder and nothing of its content.
public struct CookieStoreError: Error, Sendable, Hashable {
    /// The reason of a failure.
    public struct Code: Sendable, Hashable {
        fileprivate let text: String

        /// The file cannot be opened or read, or it is not a regular file.
        public static let unreadable = Code(text: "cannot be read")
        /// The file, its lock or its folder cannot be written; a full volume is one reason.
        public static let notWritable = Code(text: "cannot be written")
        /// The file or its lock is a symbolic link, which might lead to a file of someone else.
        public static let symbolicLink = Code(text: "is a symbolic link; use the URL of the file that it leads to")
        /// The file is larger than 16 MiB, or a change would make it so.
        public static let tooLarge = Code(text: "is larger than 16 MiB; remove cookies or the file")
        /// The file is damaged or is not a cookie file.
        ///
        /// The app may remove it; its cookies are then lost.
        public static let malformed = Code(text: "is not an intact cookie file; remove it to start without cookies")
        /// The file was written by another version of this package.
        public static let unsupportedVersion = Code(
            text: "has an unsupported version; remove it to start without cookies"
        )
        /// Another store or process has held the lock for 10 s.
        public static let locked = Code(text: "is locked by another process; try again later")
    }

    /// Why the file could not be read or written.
    public let code: Code
    /// The last path component of the file.
    public let fileName: String
    /// The error of the system, such as `ENOSPC`; `nil` if there was none.
    public let systemCode: POSIXErrorCode?

    init(_ code: Code, path: String, systemCode: POSIXErrorCode? = nil) {
        self.code = code
        fileName = String(path.split(separator: "/").last ?? "")
        self.systemCode = systemCode
    }

    /// Creates the error for a failure of the system; a symbolic link has a code of its own.
    init(_ code: Code, path: String, _ error: POSIXError) {
        self.init(error.code == .ELOOP ? .symbolicLink : code, path: path, systemCode: error.code)
    }
}

extension CookieStoreError: LocalizedError, SafelyDescribed {
    /// The name of the file, the reason, and the number of the system's error.
    public var description: String {
        let number = systemCode.map { " (errno \($0.rawValue))" } ?? ""
        return "the cookie file \(fileName.debugDescription) \(code.text)\(number)"
    }

    /// The same text as ``description``.
    public var errorDescription: String? { description }
}
