#if Redis
public import Foundation
public import PipelineRedaction

/// An error that describes why Redis could not be used.
///
/// **Secrets**: the texts contain no host, no password and nothing of what is stored.
public struct RedisError: Error, Sendable, Hashable {
    /// The reason of a failure.
    public struct Code: Sendable, Hashable {
        fileprivate let text: String

        /// There is no connection to the server.
        public static let unavailable = Code(text: "is unavailable; try again later")
        /// The server does not accept writes, as a replica does.
        public static let notWritable = Code(text: "cannot be written")
        /// The memory of the server is full.
        public static let full = Code(text: "has no space left")
        /// The server returned something that it cannot have stored.
        public static let corrupt = Code(text: "is damaged")
        /// The server has not responded in time.
        public static let timedOut = Code(text: "did not respond in time; try again later")
        /// The server denies access, or the client must not connect to it without encryption.
        public static let notAllowed = Code(text: "denies access")
    }

    /// Why the call failed.
    public let code: Code
    /// What the server or the system reported, such as "errno 111", without secrets; `nil` if there is nothing to say.
    public let detail: String?

    /// Creates an error with what the system or the server reported.
    @_spi(Stores) public init(_ code: Code, _ detail: String? = nil) {
        self.code = code
        self.detail = detail
    }

    /// Creates the error for an error reply; shows only its first word, because the rest may contain arguments.
    @_spi(Stores) public init(reply: String) {
        // Before version 7, Redis reports the errors of commands in a script in the text of another error.
        if reply.contains("OOM command not allowed") {
            self.init(.full, "OOM")
            return
        }
        let word = String(reply.prefix { $0.isASCII && $0.isUppercase }.prefix(16))
        switch word {
        case "NOAUTH", "WRONGPASS", "NOPERM", "DENIED": self.init(.notAllowed, word)
        case "READONLY", "MISCONF", "NOREPLICAS": self.init(.notWritable, word)
        case "LOADING", "BUSY", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN": self.init(.unavailable, word)
        default: self.init(.corrupt, word.isEmpty ? nil : word)
        }
    }
}

extension RedisError: LocalizedError, SafelyDescribed {
    /// The reason, and what the system or the server reported.
    public var description: String { "Redis \(code.text)\(detail.map { " (\($0))" } ?? "")" }

    /// The same text as ``description``.
    public var errorDescription: String? { description }
}
#endif
