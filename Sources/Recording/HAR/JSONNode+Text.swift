package import Foundation

extension JSONNode {
    /// Returns the value as JSON text.
    ///
    /// - Parameter indentation: the level of the value, for text over several lines with 2 blanks per level; `nil` for
    ///   one line.
    /// - Returns: UTF-8 without a trailing line break.
    package func data(indentation: Int? = nil) -> Data {
        data(lines: indentation.map { (String(repeating: "  ", count: $0), "  ") })
    }

    /// Returns the value as JSON text.
    ///
    /// Each line begins with a base and a unit for each level; `nil` for one line.
    func data(lines: (base: String, unit: String)?) -> Data {
        var output = Data()
        write(to: &output, lines.map { Lines(base: $0.base, unit: $0.unit) })
        return output
    }

    private struct Lines {
        var base: String
        let unit: String

        var next: Lines { Lines(base: base + unit, unit: unit) }
    }

    private func write(to output: inout Data, _ level: Lines?) {
        switch self {
        case .null: output.append(contentsOf: "null".utf8)
        case .bool(let value): output.append(contentsOf: (value ? "true" : "false").utf8)
        case .number(let text): output.append(contentsOf: text.utf8)
        case .string(let text): Self.write(text, to: &output)
        case .array(let elements):
            Self.write(elements, "[", "]", to: &output, level) { $0.write(to: &$2, $1) }
        case .object(let members):
            Self.write(members, "{", "}", to: &output, level) { member, level, output in
                Self.write(member.name, to: &output)
                output.append(contentsOf: (level == nil ? ":" : ": ").utf8)
                member.value.write(to: &output, level)
            }
        }
    }

    private static func write<Part>(
        _ parts: [Part],
        _ start: String,
        _ end: String,
        to output: inout Data,
        _ level: Lines?,
        _ writePart: (Part, Lines?, inout Data) -> Void
    ) {
        let inner = level?.next
        output.append(contentsOf: start.utf8)
        for (index, part) in parts.enumerated() {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            if let inner { writeLineEnd(inner, to: &output) }
            writePart(part, inner, &output)
        }
        if let level, !parts.isEmpty { writeLineEnd(level, to: &output) }
        output.append(contentsOf: end.utf8)
    }

    private static func writeLineEnd(_ level: Lines, to output: inout Data) {
        output.append(UInt8(ascii: "\n"))
        output.append(contentsOf: level.base.utf8)
    }

    private static func write(_ text: String, to output: inout Data) {
        output.append(UInt8(ascii: "\""))
        var text = text
        text.withUTF8 { bytes in
            var start = 0
            for (index, byte) in bytes.enumerated() {
                guard let escape = escape(of: byte) else { continue }
                output.append(contentsOf: bytes[start..<index])
                output.append(contentsOf: escape.utf8)
                start = index + 1
            }
            output.append(contentsOf: bytes[start...])
        }
        output.append(UInt8(ascii: "\""))
    }

    private static func escape(of byte: UInt8) -> String? {
        switch byte {
        case UInt8(ascii: "\""): "\\\""
        case UInt8(ascii: "\\"): "\\\\"
        case 0x0a: "\\n"
        case 0x0d: "\\r"
        case 0x09: "\\t"
        case ..<0x20, 0x7f: "\\u00" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
        default: nil
        }
    }
}
