package import Foundation

/// A media type with its parameters (RFC 9110 §8.3.1).
package struct MediaType {
    /// The type and subtype in lower case, for example `application/json`.
    package let essence: String
    /// The charset parameter in lower case.
    package let charset: String?

    package init(_ text: String) {
        essence = text.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
        charset = Self.parameter("charset", of: text)?.lowercased()
    }

    /// Returns the value of a parameter that follows a semicolon; a quoted value is unquoted.
    static func parameter(_ name: String, of value: String) -> String? {
        var rest = value[...]
        while let semicolon = rest.firstIndex(of: ";") {
            rest = rest[rest.index(after: semicolon)...].drop { $0 == " " || $0 == "\t" }
            let key = rest.prefix { $0 != "=" && $0 != ";" }
            rest = rest[key.endIndex...]
            guard rest.popFirst() == "=" else {
                rest = value[key.endIndex...]
                continue
            }
            var text = ""
            if rest.first == "\"" {
                rest = rest.dropFirst()
                while let character = rest.popFirst(), character != "\"" {
                    text.append(character == "\\" ? rest.popFirst() ?? character : character)
                }
            } else {
                text = rest.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces)
            }
            if key.lowercased() == name { return text }
        }
        return nil
    }

    /// Whether the type is JSON, by name or by suffix (RFC 6839).
    package var isJSON: Bool { essence == "application/json" || essence.hasSuffix("+json") }

    var isForm: Bool { essence == "application/x-www-form-urlencoded" }

    /// Whether the type says that the body is text; a body without a type may be text.
    var isText: Bool {
        if essence.isEmpty || isJSON || isForm || essence.hasPrefix("text/") || essence.hasSuffix("+xml") {
            return true
        }
        return Self.textTypes.contains(essence)
    }

    private static let textTypes: Set<String> = [
        "application/graphql", "application/javascript", "application/jsonl", "application/x-ndjson", "application/xml",
        "application/yaml",
    ]

    /// Returns the encoding of a body from its bytes and the charset; `nil` if it is UTF-8, or may not be text.
    ///
    /// Other text is Latin-1 if its charset is unknown, because any bytes are.
    func encoding(of body: Data) -> String.Encoding? {
        let named = charset.flatMap(Self.encoding)
        guard isText || named != nil, !Self.isUTF8(body) else { return nil }
        switch (named, body.first, body.dropFirst().first) {
        case (.utf16LittleEndian, _, _), (.utf16BigEndian, _, _): return named
        case (_, 0xfe, 0xff), (_, 0, _): return .utf16BigEndian
        case (_, 0xff, 0xfe), (_, _, 0): return .utf16LittleEndian
        case (.utf16, _, _): return .utf16BigEndian
        case (.windowsCP1252, _, _): return named
        default: return isText && !essence.isEmpty ? .isoLatin1 : nil
        }
    }

    /// Whether a body is UTF-8, whatever its charset says, and has no NUL, which text in UTF-16 has.
    static func isUTF8(_ body: Data) -> Bool {
        !body.withUnsafeBytes { $0.contains(0) } && String(validating: body, as: UTF8.self) != nil
    }

    /// Whether the charset is one that cannot be decoded and in which ASCII characters may be other bytes.
    var hasForeignCharset: Bool {
        guard isText, let charset, Self.encoding(ofCharset: charset) == nil else { return false }
        return !Self.extensionsOfASCII.contains(where: charset.hasPrefix)
    }

    private static let extensionsOfASCII = [
        "big5", "euc-", "gb", "iso-8859-", "koi8-", "macintosh", "shift_jis", "tis-620", "windows-",
    ]

    /// Returns the encoding of a charset that Foundation knows on every platform; `nil` for any other charset.
    package static func encoding(ofCharset name: String) -> String.Encoding? {
        switch name {
        case "utf-8", "utf8": .utf8
        case "us-ascii", "ascii": .ascii
        case "iso-8859-1", "latin1": .isoLatin1
        case "windows-1252", "cp1252": .windowsCP1252
        case "utf-16": .utf16
        case "utf-16le": .utf16LittleEndian
        case "utf-16be": .utf16BigEndian
        default: nil
        }
    }
}
