/// Parses one line of Cache-Control.
///
/// Quotation marks that are not closed are part of a token, so they hide no directive after them.
enum DirectiveParser {
    static func parse(_ line: String, into control: inout CacheControl) {
        var line = line
        line.withUTF8 { bytes in
            var position = 0
            while position < bytes.count {
                let end = parseDirective(bytes, from: position, into: &control)
                position = end + 1
            }
        }
    }

    /// Parses a directive and returns the position of the comma after it, or of the end.
    private static func parseDirective(
        _ bytes: UnsafeBufferPointer<UInt8>,
        from start: Int,
        into control: inout CacheControl
    ) -> Int {
        var start = start
        while start < bytes.count, bytes[start].isOptionalWhitespace { start += 1 }
        var position = start
        while position < bytes.count, bytes[position] != comma, bytes[position] != equals { position += 1 }
        guard position < bytes.count, bytes[position] == equals else {
            let name = name(bytes, start, trimmedEnd(bytes, start, position))
            if !name.isEmpty { control.apply(name, .none) }
            return position
        }
        let nameEnd = trimmedEnd(bytes, start, position)
        let hasSpace = nameEnd != position
        let name = name(bytes, start, nameEnd)
        position += 1
        let valueStart = position
        if position < bytes.count, bytes[position] == quote,
            let (text, afterQuote) = quotedString(bytes, from: position + 1)
        {
            position = afterQuote
            while position < bytes.count, bytes[position] != comma { position += 1 }
            let isWhole = trimmedEnd(bytes, afterQuote, position) == afterQuote
            control.apply(name, isWhole && !hasSpace ? .text(text) : .invalid)
            return position
        }
        while position < bytes.count, bytes[position] != comma { position += 1 }
        let valueEnd = trimmedEnd(bytes, valueStart, position)
        let isToken = valueEnd > valueStart && !bytes[valueStart].isOptionalWhitespace
        control.apply(name, isToken && !hasSpace ? .text(text(bytes, valueStart, valueEnd)) : .invalid)
        return position
    }

    /// Returns the content of a quoted string and the position after it; `nil` if it is not closed.
    private static func quotedString(_ bytes: UnsafeBufferPointer<UInt8>, from start: Int) -> (String, Int)? {
        var content: [UInt8] = []
        var position = start
        while position < bytes.count {
            switch bytes[position] {
            case quote: return (String(decoding: content, as: UTF8.self), position + 1)
            case backslash where position + 1 < bytes.count:
                content.append(bytes[position + 1])
                position += 2
            default:
                content.append(bytes[position])
                position += 1
            }
        }
        return nil
    }

    private static func trimmedEnd(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int, _ end: Int) -> Int {
        var end = end
        while end > start, bytes[end - 1].isOptionalWhitespace { end -= 1 }
        return end
    }

    private static func text(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int, _ end: Int) -> String {
        String(decoding: bytes[start..<end], as: UTF8.self)
    }

    /// Returns a name in lowercase; empty if it is longer than every known one.
    private static func name(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int, _ end: Int) -> String {
        guard end - start <= 32 else { return "" }
        return String(unsafeUninitializedCapacity: end - start) { buffer in
            for index in start..<end {
                let byte = bytes[index]
                buffer[index - start] = (65...90).contains(byte) ? byte | 0x20 : byte
            }
            return end - start
        }
    }

    private static let comma = UInt8(ascii: ",")
    private static let equals = UInt8(ascii: "=")
    private static let quote = UInt8(ascii: "\"")
    private static let backslash = UInt8(ascii: "\\")
}
