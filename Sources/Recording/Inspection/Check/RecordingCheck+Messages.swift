import Foundation
import PipelineCore

extension RecordingCheck {
    mutating func check(request: JSONNode) {
        let url = request["url"]?.string ?? ""
        if !isAbsolute(url) { say(.meaning, "request.url", "is not absolute") }
        if url.contains("#") { say(.meaning, "request.url", "has a fragment") }
        items("headers", of: request, .header, "request")
        items("cookies", of: request, .cookie, "request")
        let query = items("queryString", of: request, .query, "request").map {
            Pair(name: $0["name"]?.string ?? "", value: $0["value"]?.string ?? "")
        }
        if !Self.readings(ofQueryIn: url).contains(query) {
            say(.meaning, "request.queryString", "differs from the query of the URL")
        }
        checkPostData(of: request)
    }

    private func isAbsolute(_ url: String) -> Bool {
        guard let start = url.range(of: "://") else { return false }
        let host = url[start.upperBound...].prefix { !"/?#".contains($0) }
        return start.lowerBound != url.startIndex && !host.isEmpty
    }

    private mutating func checkPostData(of request: JSONNode) {
        let size = request["bodySize"]?.int
        guard let post = request["postData"] else {
            if let size, size > 0 { say(.meaning, "request.postData", "is missing, but bodySize is \(size)") }
            return
        }
        guard hasShape(.postData, post, "request.postData") else { return }
        items("params", of: post, .parameter, "request.postData")
        guard post["text"] != nil || post["params"] != nil || post["_file"] != nil else {
            say(.meaning, "request.postData", "has neither text nor params")
            return
        }
        // In this case the parameters are the body, in a form that no member names.
        if post["text"]?.string?.isEmpty == true, post["params"]?.elements.isEmpty == false { return }
        let encoding = post["encoding"]?.string ?? post["_encoding"]?.string
        // The size shows whether a text without an encoding is UTF-8 or Latin-1.
        let latin1 = encoding == nil ? post["text"]?.string?.data(using: .isoLatin1)?.count : nil
        if let body = body(in: post, encoding: encoding, "request.postData"), let size, size >= 0,
            ![body.count, latin1].contains(size)
        {
            say(.meaning, "request.bodySize", "is \(size), and the body has \(body.count) bytes")
        }
    }

    mutating func check(response: JSONNode, of entry: JSONNode) {
        let isError = [response, entry].contains { $0["_error"] != nil || $0["_failureText"] != nil }
        let status = response["status"]?.int ?? 0
        if !(100...599).contains(status), !isError, response["status"] != nil {
            say(.meaning, "response.status", "is \(status), and no _error explains why")
        }
        let fields = items("headers", of: response, .header, "response").map {
            Pair(name: $0["name"]?.string?.lowercased() ?? "", value: $0["value"]?.string ?? "")
        }
        let cookieCount = items("cookies", of: response, .cookie, "response").count
        let setCounts = Self.cookieCounts(in: fields.filter { $0.name == "set-cookie" }.map(\.value))
        if !setCounts.contains(cookieCount) {
            let text = "lists \(cookieCount), but the Set-Cookie fields contain \(setCounts.upperBound)"
            say(.meaning, "response.cookies", text)
        }
        let location = fields.first { $0.name == "location" }?.value ?? ""
        if (300...399).contains(status), response["redirectURL"]?.string ?? "" != location {
            say(.meaning, "response.redirectURL", "differs from the Location field")
        }
        guard let content = response["content"], hasShape(.content, content, "response.content") else { return }
        if let size = HAREntry(json: entry).missingByteCount {
            say(.meaning, "response.content.text", "is missing, but size is \(size); the entry cannot be replayed")
        }
        check(content: content, wireByteCount: response["bodySize"]?.int)
    }

    /// Returns the possible numbers of cookies.
    ///
    /// Some writers join several in one field, with line breaks or commas.
    private static func cookieCounts(in fields: [String]) -> ClosedRange<Int> {
        let lines = fields.flatMap { $0.split(whereSeparator: \.isNewline).map(String.init) }
        let cookies = lines.flatMap { SetCookieSplitting.values(of: $0, needsBlank: false) }
        return min(fields.count, cookies.count)...max(fields.count, cookies.count)
    }

    private mutating func check(content: JSONNode, wireByteCount: Int?) {
        let size = content["size"]?.int
        // Polly.JS marks bodies in pieces or in hexadecimal digits with this member.
        let isBinary = content["_isBinary"] == .bool(true)
        let encoding = content["encoding"]?.string ?? (isBinary ? "hex" : nil)
        if let body = body(in: content, encoding: encoding, "response.content"), let size, body.count != size {
            say(.meaning, "response.content.size", "is \(size), and the body has \(body.count) bytes")
        }
        if let saved = content["compression"]?.int, let size, let wireByteCount, wireByteCount >= 0,
            saved != size - wireByteCount
        {
            say(.meaning, "response.content.compression", "is \(saved), not size - bodySize")
        }
    }

    // MARK: Queries

    struct Pair: Equatable {
        var name: String
        var value: String

        func map(_ transform: (String) -> String) -> Pair { Pair(name: transform(name), value: transform(value)) }
    }

    /// Returns the queries that real writers derive from a URL: raw or decoded, with `+` as a plus sign or as a blank.
    private static func readings(ofQueryIn url: String) -> [[Pair]] {
        let whole = url.prefix { $0 != "#" }
        let query = whole.firstIndex(of: "?").map { whole[whole.index(after: $0)...] } ?? ""
        let raw = query.split(separator: "&").map { item in
            let equals = item.firstIndex(of: "=") ?? item.endIndex
            return Pair(name: String(item[..<equals]), value: String(item[equals...].dropFirst()))
        }
        let decoded = raw.map { $0.map { $0.removingPercentEncoding ?? $0 } }
        let spaced = raw.map {
            $0.map { text in
                let blank = text.replacing("+", with: " ")
                return blank.removingPercentEncoding ?? blank
            }
        }
        return [raw, decoded, spaced]
    }
}
