package import Foundation

/// A media type with its parameters (RFC 9110 §8.3.1).
package struct MediaType {
    /// The type and subtype in lower case, for example `application/json`.
    package let essence: String
    /// The charset parameter in lower case.
    package let charset: String?

    package init(_ text: String) {
        let parts = text.split(separator: ";", omittingEmptySubsequences: false)
            .map { $0.trimmingCharacters(in: .whitespaces) }
        essence = (parts.first ?? "").lowercased()
        charset =
            parts.dropFirst().lazy.compactMap { part -> String? in
                guard let equals = part.firstIndex(of: "="), part[..<equals].lowercased() == "charset" else {
                    return nil
                }
                return part[part.index(after: equals)...].trimmingCharacters(in: CharacterSet(charactersIn: "\""))
                    .lowercased()
            }.first
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
