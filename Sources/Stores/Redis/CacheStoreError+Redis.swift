#if Redis
extension CacheStoreError {
    static func redis(_ code: Code, _ detail: String? = nil) -> CacheStoreError {
        CacheStoreError(code, "Redis", detail)
    }

    /// Creates the error for an error reply; shows only its first word, because the rest may contain arguments.
    static func redis(reply: String) -> CacheStoreError {
        // Before version 7, Redis reports the errors of commands in a script in the text of another error.
        if reply.contains("OOM command not allowed") { return .redis(.full, "OOM") }
        let word = String(reply.prefix { $0.isASCII && $0.isUppercase }.prefix(16))
        switch word {
        case "NOAUTH", "WRONGPASS", "NOPERM", "DENIED": return .redis(.notAllowed, word)
        case "READONLY", "MISCONF", "NOREPLICAS": return .redis(.notWritable, word)
        case "LOADING", "BUSY", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN": return .redis(.unavailable, word)
        default: return .redis(.corrupt, word.isEmpty ? nil : word)
        }
    }
}
#endif
