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
