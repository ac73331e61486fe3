/// The words that occur in HAR files of this package.
enum HARVocabulary {
    /// The names of members, both standard and custom.
    static let names: Set<String> = [
        "log", "version", "creator", "name", "browser", "pages", "entries", "comment", "pageref", "startedDateTime",
        "time",
        "request", "response", "cache", "timings", "serverIPAddress", "connection", "method", "url", "httpVersion",
        "cookies",
        "headers", "queryString", "postData", "headersSize", "bodySize", "status", "statusText", "content",
        "redirectURL",
        "value", "path", "domain", "expires", "httpOnly", "secure", "mimeType", "params", "text", "fileName",
        "contentType",
        "size", "compression", "encoding", "beforeRequest", "afterRequest", "blocked", "dns", "connect", "send", "wait",
        "receive", "ssl", "_chunks", "_coded", "_encoding", "_error", "_errorKind", "_file", "_pipeline",
        "_trailers", "randomSeed", "call", "parentCall", "attempt", "hop", "spans", "id", "parent", "kind", "start",
        "duration", "outcome",
    ]

    /// Returns whether a word occurs in every file.
    ///
    /// Such a word is not a secret and cannot be hidden.
    static func contains(_ word: String) -> Bool {
        words.contains { $0.contains(word) }
    }

    private static let words = names.union(["Pipeline", "base64", "latin1", "HTTP/1.1", "application/octet-stream"])
}
