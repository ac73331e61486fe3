extension String {
    /// The first characters in quotes, every control character escaped: safe to show in an error or a log line.
    package var quotedExcerpt: String {
        let limit = 64
        let excerpt = prefix(limit).debugDescription
        return count > limit ? excerpt + "…" : excerpt
    }

    /// `nil` for nothing but whitespace.
    package var unlessBlank: String? { allSatisfy(\.isWhitespace) ? nil : self }
}
