public import Foundation
public import PipelineCore

extension CookieJar {
    /// An error that describes why no cookies could be read from a HAR file.
    ///
    /// **Secrets**: the texts contain nothing of the file.
    public struct HARError: Error, Sendable, Hashable {
        /// What is malformed.
        enum Reason: String, Error {
            case size = "is larger than 256 MiB"
            case content = "is not JSON with a log that has entries, nor a JSON array of cookies"
            case cookie = "must have a name, a value and a domain that a cookie can have"
        }

        /// The position of the malformed cookie in a JSON array of cookies, from 0; `nil` for other errors.
        public let index: Int?
        let reason: Reason
    }
}

extension CookieJar.HARError: LocalizedError, SafelyDescribed {
    /// What is malformed, and the position of a malformed cookie.
    public var description: String {
        (index.map { "cookie \($0) of the HAR file" } ?? "the HAR file") + " \(reason.rawValue)"
    }

    /// The same text as ``description``.
    public var errorDescription: String? { description }
}
