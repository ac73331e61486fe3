import HTTPTypes

/// Functions that build, check and resolve URLs as text, so that a request needs no `URL`.
///
/// Source: RFC 3986, https://www.rfc-editor.org/rfc/rfc3986.html
package enum URLText {
    /// The target of a request: scheme, authority and path in HTTP's terms.
    package struct RequestTarget: Equatable {
        var scheme: String
        /// The host in lowercase, and the port unless it is the scheme's default.
        var authority: String
        /// The path and the query; starts with a slash, has no dot segments and no fragment.
        var pathAndQuery: String

        /// Returns the head of a request to this target.
        func head(_ method: HTTPRequest.Method, _ fields: HTTPFields = [:]) -> HTTPRequest {
            HTTPRequest(method: method, scheme: scheme, authority: authority, path: pathAndQuery, headerFields: fields)
        }
    }

    /// Joins parts to a path, with one slash between them.
    package static func joining(_ parts: [String]) -> String {
        guard var path = parts.first else { return "" }
        for part in parts.dropFirst() {
            while path.utf8.last == UInt8(ascii: "/") { path.removeLast() }
            path += "/" + part.drop { $0 == "/" }
        }
        return path
    }

    /// Returns whether a segment of a path is `.` or `..` with at least one escape.
    static func hasEscapedStep(_ path: String) -> Bool {
        path.utf8.split(separator: UInt8(ascii: "/")).contains { segment in
            guard (3...6).contains(segment.count) else { return false }
            let decoded = String(decoding: segment, as: UTF8.self).lowercased().replacing("%2e", with: ".")
            return decoded == "." || decoded == ".."
        }
    }

    /// Returns whether the segments `..` of a path lead above its beginning.
    static func leavesBase(_ path: String) -> Bool {
        var depth = 0
        let segments = path.utf8.drop { $0 == UInt8(ascii: "/") }
            .split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        for segment in segments where !segment.elementsEqual(".".utf8) {
            depth += segment.elementsEqual("..".utf8) ? -1 : 1
            if depth < 0 { return true }
        }
        return false
    }

    /// Appends a path to a base URL.
    ///
    /// The result is not checked here but by ``requestTarget(of:)``.
    package static func joining(base: String, path: String) -> String {
        guard !path.isEmpty else { return base }
        if isPlainPath(path), isPlainBase(base) { return base + path }
        let base = base.utf8
        let tail = base.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } ?? base.endIndex
        var prefix = base[..<tail]
        while prefix.last == UInt8(ascii: "/") { prefix.removeLast() }
        let below = path.utf8.drop { $0 == UInt8(ascii: "/") }

        var bytes: [UInt8] = []
        bytes.reserveCapacity(prefix.count + 1 + below.count + base[tail...].count)
        bytes.append(contentsOf: prefix)
        bytes.append(UInt8(ascii: "/"))
        PercentEncoding.append(below, to: &bytes, allowed: .path, keepsEscapes: true)
        bytes.append(contentsOf: base[tail...])
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Whether a path begins with exactly one slash and needs no escaping.
    private static func isPlainPath(_ path: String) -> Bool {
        path.withBytes { path in
            guard path[0] == UInt8(ascii: "/"), path.count == 1 || path[1] != UInt8(ascii: "/") else { return false }
            return path.firstOffset(from: 1) { !ByteSet.path.contains($0) } == path.count
        }
    }

    /// Whether a base has no query, no fragment and no trailing slash.
    private static func isPlainBase(_ base: String) -> Bool {
        base.withBytes { base in
            guard !base.isEmpty, base[base.count - 1] != UInt8(ascii: "/") else { return false }
            return base.firstOffset { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") } == base.count
        }
    }

    /// Whether a base begins with the scheme and authority of a request, byte for byte.
    ///
    /// Most bases do, and need no parsing.
    ///
    /// Source: RFC 3986 §3.2, https://www.rfc-editor.org/rfc/rfc3986.html#section-3.2
    static func isWritten(originOf head: HTTPRequest, in base: String) -> Bool {
        guard let scheme = head.scheme, let authority = head.authority, !authority.isEmpty else { return false }
        return base.withBytes { base in
            var end = 0
            guard base.continues(scheme, at: &end), base.continues("://", at: &end), base.continues(authority, at: &end)
            else { return false }
            guard end < base.count else { return true }
            return base[end] == UInt8(ascii: "/") || base[end] == UInt8(ascii: "?") || base[end] == UInt8(ascii: "#")
        }
    }

    /// Parses the URL that ``joining(base:path:)`` returns.
    static func requestTarget(base: String, path: String) throws -> RequestTarget {
        guard !path.isEmpty, isPlainPath(path), isPlainBase(base) else {
            return try requestTarget(of: joining(base: base, path: path))
        }
        let byteCount = base.utf8.count + path.utf8.count
        let target = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: byteCount) { buffer in
            let end = buffer[buffer.initialize(fromContentsOf: base.utf8)...].initialize(fromContentsOf: path.utf8)
            return try? requestTarget(of: UnsafeBufferPointer(rebasing: buffer[..<end]))
        }
        // On failure, the text is joined for the error, which shows it.
        return try target ?? requestTarget(of: base + path)
    }

    /// Parses an absolute http or https URL and throws if it cannot be sent; the error shows its scheme and host.
    package static func requestTarget(of url: String) throws -> RequestTarget {
        do {
            return try url.withBytes { try requestTarget(of: $0) }
        } catch let error as PipelineError where !url.isEmpty {
            var error = error
            error.reason += ": " + shown(url)
            throw error
        }
    }

    private static func requestTarget(of url: UnsafeBufferPointer<UInt8>) throws -> RequestTarget {
        guard !url.isEmpty else { throw invalid("the URL is empty") }
        let colon = url.firstOffset { $0 == UInt8(ascii: ":") }
        guard colon < url.count, isScheme(url, upTo: colon) else {
            throw invalid("the URL is not absolute: it has no scheme")
        }
        let isSecure: Bool
        switch colon {
        case 5 where equalsIgnoringCase(url, "https"): isSecure = true
        case 4 where equalsIgnoringCase(url, "http"): isSecure = false
        default:
            throw PipelineError(.invalidRequest(.scheme), "the URL does not begin with http:// or https://")
        }
        let start = colon + 3
        guard url.count >= start, url[colon + 1] == UInt8(ascii: "/"), url[colon + 2] == UInt8(ascii: "/") else {
            throw invalid("the URL has no host")
        }
        let end = url.firstOffset(from: start) {
            $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#")
        }
        return RequestTarget(
            scheme: isSecure ? "https" : "http",
            authority: try canonicalAuthority(url[start..<end], isSecure: isSecure),
            pathAndQuery: try pathAndQuery(url, from: end)
        )
    }

    private static func isScheme(_ bytes: UnsafeBufferPointer<UInt8>, upTo end: Int) -> Bool {
        guard end > 0, isLetter(bytes[0]) else { return false }
        return bytes.firstOffset {
            !isLetter($0) && !isDigit($0) && $0 != UInt8(ascii: "+") && $0 != UInt8(ascii: "-")
                && $0 != UInt8(ascii: ".")
        } == end
    }

    // MARK: Authority

    /// Whether a text is a host with an optional port.
    package static func isAuthority(_ text: String) -> Bool {
        text.withBytes { (try? canonicalAuthority($0[...], isSecure: true)) != nil }
    }

    private static func canonicalAuthority(
        _ bytes: Slice<UnsafeBufferPointer<UInt8>>,
        isSecure: Bool
    ) throws -> String {
        guard !bytes.contains(UInt8(ascii: "@")) else {
            throw PipelineError(
                .invalidRequest(.userInfo),
                "the URL carries a user name or password; an authentication plugin sends them safely"
            )
        }
        var host = bytes
        var port = bytes[bytes.endIndex...]
        let isLiteral = bytes.first == UInt8(ascii: "[")
        if isLiteral {
            guard let close = bytes.firstIndex(of: UInt8(ascii: "]")) else { throw invalidHost() }
            host = bytes[...close]
            port = bytes[bytes.index(after: close)...]
            guard port.isEmpty || port.first == UInt8(ascii: ":") else { throw invalidHost() }
            port = port.dropFirst()
        } else if let colon = bytes.firstIndex(of: UInt8(ascii: ":")) {
            host = bytes[..<colon]
            port = bytes[bytes.index(after: colon)...]
        }
        guard !host.isEmpty else { throw invalid("the URL has no host") }
        let isValid =
            isLiteral
            ? host.contains(UInt8(ascii: ":"))
                && host.dropFirst().dropLast().allSatisfy { ByteSet.addressLiteral.contains($0) }
            : host.allSatisfy { ByteSet.hostName.contains($0) }
        guard isValid else { throw invalidHost() }

        let number = try portNumber(port)
        if number == nil || number == (isSecure ? 443 : 80) {
            return lowercased(host)
        }
        return lowercased(host) + ":" + String(number ?? 0)
    }

    private static func portNumber(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) throws -> Int? {
        guard !bytes.isEmpty else { return nil }
        guard bytes.count <= 5, bytes.allSatisfy(isDigit) else { throw invalidPort() }
        let number = bytes.reduce(0) { $0 * 10 + Int($1 - UInt8(ascii: "0")) }
        guard (1...65_535).contains(number) else { throw invalidPort() }
        return number
    }

    private static func lowercased(_ host: Slice<UnsafeBufferPointer<UInt8>>) -> String {
        let bytes = UnsafeBufferPointer(rebasing: host)
        guard bytes.firstOffset(where: { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) }) < bytes.count else {
            return String(decoding: bytes, as: UTF8.self)
        }
        return String(unsafeUninitializedCapacity: host.count) { buffer in
            for (offset, byte) in host.enumerated() { buffer[offset] = byte.lowercasedASCII }
            return host.count
        }
    }

    // MARK: Path and query

    private static func pathAndQuery(_ url: UnsafeBufferPointer<UInt8>, from start: Int) throws -> String {
        let end = url.firstOffset(from: start) { $0 == UInt8(ascii: "#") }
        var query = end
        var hasBracket = false
        var hasDotSegment = false
        var index = start
        while index < end {
            let byte = url[index]
            if index < query {
                if byte == UInt8(ascii: "?") {
                    query = index
                } else if byte == UInt8(ascii: ".") {
                    if index > start, url[index - 1] == UInt8(ascii: "/") { hasDotSegment = true }
                } else if byte == UInt8(ascii: "%") {
                    guard isEscape(url, at: index, end: end) else { throw invalidByte(byte, at: index) }
                } else if !ByteSet.path.contains(byte) {
                    throw invalidByte(byte, at: index)
                }
            } else if byte == UInt8(ascii: "%") {
                guard isEscape(url, at: index, end: end) else { throw invalidByte(byte, at: index) }
            } else if !ByteSet.query.contains(byte) {
                guard byte == UInt8(ascii: "[") || byte == UInt8(ascii: "]") else { throw invalidByte(byte, at: index) }
                hasBracket = true
            }
            index += 1
        }
        if start < query, !hasBracket, !hasDotSegment {
            return String(decoding: UnsafeBufferPointer(rebasing: url[start..<end]), as: UTF8.self)
        }
        var result: [UInt8] = []
        result.reserveCapacity(end - start + 1)
        appendPath(url[start..<query], to: &result)
        PercentEncoding.append(url[query..<end], to: &result, allowed: .query, keepsEscapes: true)
        return String(decoding: result, as: UTF8.self)
    }

    /// Whether two hexadecimal digits follow the percent sign at an index.
    static func isEscape(_ bytes: UnsafeBufferPointer<UInt8>, at index: Int, end: Int) -> Bool {
        end - index > 2 && ByteSet.hexDigits.contains(bytes[index + 1]) && ByteSet.hexDigits.contains(bytes[index + 2])
    }

    /// Removes dot segments (RFC 3986 §5.2.4), because libcurl does so automatically and other transports do not.
    private static func appendPath(_ path: Slice<UnsafeBufferPointer<UInt8>>, to result: inout [UInt8]) {
        var segments: [Slice<UnsafeBufferPointer<UInt8>>] = []
        let parts = path.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        for (offset, part) in parts.enumerated() {
            let isLast = offset == parts.count - 1
            let isParent = part.count == 2 && part.allSatisfy { $0 == UInt8(ascii: ".") }
            if isParent {
                _ = segments.popLast()
            }
            if isParent || part.elementsEqual(CollectionOfOne(UInt8(ascii: "."))) {
                if isLast { segments.append(part.dropFirst(part.count)) }
                continue
            }
            segments.append(part)
        }
        result.append(UInt8(ascii: "/"))
        for (offset, segment) in segments.enumerated() {
            if offset > 0 { result.append(UInt8(ascii: "/")) }
            result.append(contentsOf: segment)
        }
    }

    // MARK: Bytes

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }

    private static func equalsIgnoringCase(_ bytes: UnsafeBufferPointer<UInt8>, _ prefix: StaticString) -> Bool {
        (0..<prefix.utf8CodeUnitCount).allSatisfy { bytes[$0] | 0x20 == prefix.utf8Start[$0] }
    }

    // MARK: Errors

    private static func invalid(_ reason: String) -> PipelineError {
        PipelineError(.invalidRequest(.url), reason)
    }

    private static func invalidHost() -> PipelineError {
        invalid("the URL's host has a character that no host may have")
    }

    private static func invalidPort() -> PipelineError {
        invalid("the URL's port is not a number from 1 to 65535")
    }

    private static func invalidByte(_ byte: UInt8, at offset: Int) -> PipelineError {
        invalid("byte 0x\(String(byte, radix: 16)) at offset \(offset) of the URL must be percent-encoded")
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Returns whether a text begins at an offset, and moves the offset to its end.
    fileprivate func continues(_ text: String, at offset: inout Int) -> Bool {
        let start = offset
        offset += text.utf8.count
        guard offset <= count else { return false }
        return text.withBytes { text in (0..<text.count).allSatisfy { self[start + $0] == text[$0] } }
    }
}
