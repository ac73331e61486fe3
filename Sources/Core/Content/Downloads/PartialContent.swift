import HTTPTypes

/// Checks whether a 206 response holds the range that its request asked for.
///
/// Source: RFC 9110 §14.2 and §15.3.7, https://www.rfc-editor.org/rfc/rfc9110.html#section-15.3.7
enum PartialContent {
    /// Returns why a 206 response does not match its request; `nil` if it does, and for every other status.
    ///
    /// Requests for several ranges or in units other than bytes are not checked; the caller must interpret the
    /// response.
    static func mismatch(of response: PipelineResponse) -> String? {
        guard response.statusCode == 206 else { return nil }
        guard let asked = response.request.headers[.range] else {
            return "the status is 206 Partial Content, but the request asked for no range; nothing was saved"
        }
        let parts = asked.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].lowercased() == "bytes", !parts[1].contains(",") else { return nil }
        guard let content = ContentRange(response.headers[.contentRange] ?? "") else {
            return "the status is 206 Partial Content, but Content-Range does not give a range; nothing was saved"
        }
        guard !isRange(parts[1], servedBy: content) else { return nil }
        return "the response holds bytes \(content.first) to \(content.last), but the request asked for another range"
    }

    private static func isRange(_ asked: Substring, servedBy content: ContentRange) -> Bool {
        let ends = asked.split(separator: "-", maxSplits: 1, omittingEmptySubsequences: false)
        guard ends.count == 2 else { return false }
        let endsWithWhole = content.whole.map { content.last == $0 - 1 }
        switch (ContentRange.number(ends[0]), ContentRange.number(ends[1])) {
        case (let first?, let last?):
            return content.first == first && (content.last == last || content.last < last && endsWithWhole == true)
        case (let first?, nil):
            return content.first == first && endsWithWhole != false
        case (nil, let count?):
            let isAll = content.first == 0 && content.last < count
            return endsWithWhole != false && (isAll || content.last - content.first == count - 1)
        case (nil, nil):
            return false
        }
    }
}
