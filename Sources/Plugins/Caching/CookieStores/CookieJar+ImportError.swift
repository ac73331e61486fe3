public import Foundation
public import PipelineCore

extension CookieJar {
    /// An error that describes why no cookies could be read from a file.
    ///
    /// **Secrets**: the texts contain nothing of the file.
    public struct ImportError: Error, Sendable, Hashable {
        /// What is malformed.
        enum Reason: String, Error {
            case fieldCount = "must have seven fields separated by tabs"
            case flag = "has a flag other than TRUE and FALSE"
            case expiry = "has an expiry that is not a number of seconds"
            case domain = "has a domain that cannot be a host"
            case character = "has no cookie, or one with a character that is not allowed"
            case size = "is larger than 256 MiB"
            case content = "is not JSON with a log that has entries, nor a JSON array of cookies"
            case cookie = "must have a name, a value and a domain that a cookie can have"
        }

        /// The number of the malformed line in a Netscape cookie file, 1 and up; `nil` for other errors.
        public internal(set) var line: Int?
        /// The position of the malformed cookie in a JSON array of cookies, from 0; `nil` for other errors.
        public internal(set) var index: Int?
        let reason: Reason
    }
}

extension CookieJar.ImportError: LocalizedError, SafelyDescribed {
    /// What is malformed, and where.
    public var description: String {
        let place = line.map { "line \($0) of the cookie file" } ?? index.map { "cookie \($0) of the HAR file" }
        return "\(place ?? "the HAR file") \(reason.rawValue)"
    }

    /// The same text as ``description``.
    public var errorDescription: String? { description }
}
