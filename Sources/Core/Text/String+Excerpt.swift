extension String {
    /// The first 64 characters in quotes with control characters escaped, safe to show in an error or a log line.
    package var quotedExcerpt: String {
        let limit = 64
        let excerpt = prefix(limit).debugDescription
        return count > limit ? excerpt + "…" : excerpt
    }

    /// The string; `nil` if it is empty or only whitespace.
    package var unlessBlank: String? { allSatisfy(\.isWhitespace) ? nil : self }
}
