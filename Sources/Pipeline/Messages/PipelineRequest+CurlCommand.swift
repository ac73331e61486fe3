import Foundation
import HTTPTypes

extension PipelineRequest {
    /// The request as a cURL command for a POSIX shell.
    ///
    /// With the ``Redactor/revealingSecrets`` redactor the command sends the same method, URL, fields and body as the request;
    /// what cURL adds by itself (User-Agent, Accept) it still adds. With any other, hidden values stand as `…`.
    ///
    /// **Effects**: the body is never read from a stream or a file. One that is not text in memory, that is larger than the
    /// limit, or that the redactor does not show, stands as `@body`: put its bytes into a file of that name. Content-Length
    /// is left to cURL.
    ///
    /// - Parameters:
    ///   - redactor: what is shown.
    ///   - bodyLimit: the largest body that becomes part of the command, in bytes, 0 and up; default 64 KiB.
    /// - Returns: one line, but for line ends in the body.
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
            // cURL takes "Name:" for an order to leave the field out, and "Name;" for an empty one.
            let text = field.value.isEmpty ? field.name + ";" : field.name + ": " + field.value
            words += ["-H", text.shellQuoted]
        }
        if !body.isAbsent {
            // Unasked, cURL calls every body a form.
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
        // Not --data-binary, for which a text that begins with @ is the name of a file.
        return ["--data-raw", text.shellQuoted]
    }
}

extension String {
    /// One word for a POSIX shell.
    fileprivate var shellQuoted: String {
        let isPlain =
            !isEmpty
            && utf8.allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte) || (0x61...0x7a).contains(byte)
                    || byte == 0x2d
                    || byte == 0x5f
            }
        if isPlain { return self }
        var quoted: [UInt8] = [UInt8(ascii: "'")]
        for byte in utf8 {
            // Byte by byte: as a character, a quote may have melted into what follows it.
            if byte == UInt8(ascii: "'") { quoted += "'\\'".utf8 }
            quoted.append(byte)
        }
        quoted.append(UInt8(ascii: "'"))
        return String(decoding: quoted, as: UTF8.self)
    }
}
