package import Foundation

extension JSONNode {
    /// Returns the value as JSON text.
    ///
    /// - Parameter indentation: the level of the value, for text over several lines with 2 blanks per level; `nil` for
    ///   one line.
    /// - Returns: UTF-8 without a trailing line break.
    package func data(indentation: Int? = nil) -> Data {
        var output = Data()
        write(to: &output, indentation)
        return output
    }

    private func write(to output: inout Data, _ level: Int?) {
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
        _ level: Int?,
        _ writePart: (Part, Int?, inout Data) -> Void
    ) {
        func lineEnd(_ level: Int) -> String { "\n" + String(repeating: "  ", count: level) }
        let inner = level.map { $0 + 1 }
        output.append(contentsOf: start.utf8)
        for (index, part) in parts.enumerated() {
            if index > 0 { output.append(UInt8(ascii: ",")) }
            if let inner { output.append(contentsOf: lineEnd(inner).utf8) }
            writePart(part, inner, &output)
        }
        if let level, !parts.isEmpty { output.append(contentsOf: lineEnd(level).utf8) }
        output.append(contentsOf: end.utf8)
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
