import Foundation
import HTTPTypes

extension PipelineRequest {
    /// Returns the request as a cURL command for a POSIX shell.
    ///
    /// With the ``Redactor/revealingSecrets`` redactor, the command sends the same method, URL, fields and body as the
    /// request. cURL still adds its own User-Agent and Accept fields. With any other redactor, hidden values appear as
    /// `…`.
    ///
    /// **Effects**: a stream or a file is never read. If the body is not text in memory, is larger than the limit, or
    /// is hidden by the redactor, it appears as `@body`: save its bytes in a file of that name. cURL sets
    /// Content-Length.
    ///
    /// - Parameters:
    ///   - redactor: decides what is shown.
    ///   - bodyLimit: the largest body that the command includes, in bytes, 0 and up; defaults to 64 KiB.
    /// - Returns: the command on one line, apart from line breaks in the body.
    public func curlCommand(redactor: Redactor = .standard, bodyLimit: Int = 64 << 10) -> String {
        precondition(bodyLimit >= 0, "bodyLimit is \(bodyLimit), not 0 or more")
        var words = ["curl"]
        if method == .head, body.isAbsent {
            words.append("--head")
        } else {
            words += ["-X", redactor.text(method.rawValue).shellQuoted]
        }
        let url = redactor.url(of: self)
        if url.contains(where: { "[]{}".contains($0) }) { words.append("--globoff") }
        for field in redactor.fields(headers, isSecret: isSecret) where field.name.lowercased() != "content-length" {
            // cURL removes a field that is given as "Name:"; "Name;" sends it without a value.
            let text = field.value.isEmpty ? field.name + ";" : field.name + ": " + field.value
            words += ["-H", text.shellQuoted]
        }
        if !body.isAbsent {
            // By default, cURL declares every body to be a form.
            if !headers.contains(.contentType) { words += ["-H", "Content-Type:".shellQuoted] }
            words += bodyWords(redactor, bodyLimit)
        }
        words.append(url.shellQuoted)
        return redactor.text(words.joined(separator: " "))
    }

    private func bodyWords(_ redactor: Redactor, _ limit: Int) -> [String] {
        guard let bytes = body.bytes else { return ["--data-binary", "@body"] }
        if bytes.isEmpty { return ["--data-raw", "''"] }
        guard let text = redactor.wholeText(bytes, contentType: headers[.contentType], limit: limit),
            redactor.revealsSecrets ? Data(text.utf8) == bytes : true
        else { return ["--data-binary", "@body"] }
        // Not --data-binary, which treats a text that begins with @ as a file name.
        return ["--data-raw", text.shellQuoted]
    }
}

extension String {
    /// The text as one word for a POSIX shell.
    fileprivate var shellQuoted: String {
        let isPlain =
            !isEmpty
            && utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
                    || byte == 0x2d
                    || byte == 0x5f
            }
        if isPlain { return self }
        // By bytes: a quote may form one character with what follows it.
        let parts = utf8.split(separator: UInt8(ascii: "'"), omittingEmptySubsequences: false)
        return "'" + parts.map { String(decoding: $0, as: UTF8.self) }.joined(separator: "'\\''") + "'"
    }
}
