import Foundation
import HTTPTypes

/// The file name that a server suggests, sanitized.
///
/// Source: RFC 6266 §4.3 and RFC 8187, https://www.rfc-editor.org/rfc/rfc8187.html#section-3.2
enum SuggestedFileName {
    private static let maximumByteCount = 200

    static func make(for response: PipelineResponse) -> String {
        let suggested = response.headers[.contentDisposition].flatMap(name(inDisposition:)).flatMap(safe)
        return suggested ?? safe(lastPart(of: response.request.path)) ?? "download"
    }

    private static func lastPart(of path: String) -> String {
        let part = path.split(separator: "/", omittingEmptySubsequences: true).last.map(String.init) ?? ""
        return part.removingPercentEncoding ?? part
    }

    /// Returns `filename*` if it can be decoded, otherwise `filename`.
    static func name(inDisposition text: String) -> String? {
        var parameters = FieldParameters(text[...])
        var plain: String?
        while let (name, value) = parameters.next() {
            if name == "filename*", let decoded = extended(value) { return decoded }
            if name == "filename" { plain = plain ?? value }
        }
        return plain
    }

    /// Decodes `charset'language'percent-encoded` in UTF-8 or ISO 8859-1 (RFC 8187).
    private static func extended(_ value: String) -> String? {
        let parts = value.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3 else { return nil }
        switch parts[0].lowercased() {
        case "utf-8":
            return String(parts[2]).removingPercentEncoding
        case "iso-8859-1":
            // Each Latin-1 byte is the Unicode scalar of the same value.
            var text = ""
            var rest = parts[2].utf8[...]
            while let byte = rest.popFirst() {
                guard byte == UInt8(ascii: "%") else {
                    text.unicodeScalars.append(Unicode.Scalar(byte))
                    continue
                }
                let digits = String(decoding: rest.prefix(2), as: UTF8.self)
                guard digits.utf8.count == 2, let value = UInt8(digits, radix: 16) else { return nil }
                text.unicodeScalars.append(Unicode.Scalar(value))
                rest = rest.dropFirst(2)
            }
            return text
        default:
            return nil
        }
    }

    /// Returns a name that stays in its directory on every system; `nil` if nothing remains of it.
    static func safe(_ name: String) -> String? {
        let last = name.unicodeScalars.split(omittingEmptySubsequences: false) { $0 == "/" || $0 == "\\" }.last
        var kept = String.UnicodeScalarView()
        for scalar in last ?? name.unicodeScalars[...] where isPrintable(scalar) {
            kept.append("<>:\"|?*".unicodeScalars.contains(scalar) ? "_" : scalar)
        }
        let middle = kept.drop { $0 == "." || $0 == "~" || $0.properties.isWhitespace }
        let end = middle.lastIndex { $0 != "." && !$0.properties.isWhitespace }
        var text = end.map { String(middle[...$0]) } ?? ""
        guard !text.isEmpty else { return nil }
        let stem = text.prefix { $0 != "." }.trimmingCharacters(in: .whitespaces).uppercased()
        if devices.contains(stem) { text = "_" + text }
        return shortened(text)
    }

    /// Excludes control characters, characters that change the direction of text, and zero-width characters.
    private static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
        default: true
        }
    }

    /// Shortens the name to the maximum length, and keeps a short extension.
    private static func shortened(_ text: String) -> String {
        guard text.utf8.count > maximumByteCount else { return text }
        var ending = ""
        if let dot = text.lastIndex(of: "."), text[dot...].utf8.count <= 20 { ending = String(text[dot...]) }
        var stem = text.dropLast(ending.count).unicodeScalars
        var byteCount = text.utf8.count
        while byteCount > maximumByteCount, let last = stem.popLast() { byteCount -= UTF8.width(last) }
        return String(String.UnicodeScalarView(stem)) + ending
    }

    private static let devices: Set<String> = {
        var names: Set<String> = ["CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"]
        for number in ["0", "1", "2", "3", "4", "5", "6", "7", "8", "9", "¹", "²", "³"] {
            names.insert("COM" + number)
            names.insert("LPT" + number)
        }
        return names
    }()
}
