public import Foundation
public import PipelineCore

extension CookieJar {
    /// An error that describes which line of a Netscape cookie file is malformed.
    ///
    /// **Secrets**: the texts contain nothing of the line.
    public struct NetscapeError: Error, Sendable, Hashable {
        /// What is malformed about a line.
        enum Reason: String, Error {
            case fieldCount = "must have seven fields separated by tabs"
            case flag = "has a flag other than TRUE and FALSE"
            case expiry = "has an expiry that is not a number of seconds"
            case domain = "has a domain that cannot be a host"
            case character = "has no cookie, or one with a character that is not allowed"
        }

        /// The number of the line, 1 and up.
        public let line: Int
        let reason: Reason
    }
}

extension CookieJar.NetscapeError: LocalizedError, SafelyDescribed {
    /// The number of the line and what is malformed about it.
    public var description: String { "line \(line) of the cookie file \(reason.rawValue)" }

    /// The same text as ``description``.
    public var errorDescription: String? { description }
}
