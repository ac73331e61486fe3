/// Reads JSON tokens strictly (RFC 8259), and reports the offset of an error.
package struct JSONTokens {
    /// An error in the text, with its offset.
    package struct Failure: Error, Equatable {
        /// The offset of the first byte that cannot be read, from 0.
        package let offset: Int
        package let reason: String
    }

    /// The maximum nesting depth, which fits on the stack of a thread other than the main thread.
    package static let maximumDepth = 128

    package let input: UnsafeBufferPointer<UInt8>
    /// The index where the next token, or the space before it, begins.
    package var index: Int

    package init(_ input: UnsafeBufferPointer<UInt8>, at index: Int = 0) {
        self.input = input
        self.index = index
    }

    package var next: UInt8? { index < input.count ? input[index] : nil }

    package func failure(_ reason: String) -> Failure {
        Failure(offset: index, reason: index < input.count ? reason : "the text ends too early")
    }

    package mutating func skipSpace() {
        while let byte = next, byte.isBlank { index += 1 }
    }

    package mutating func skip(_ byte: UInt8, _ reason: String) throws(Failure) {
        guard next == byte else { throw failure(reason) }
        index += 1
    }

    /// Throws an error if anything follows the value.
    package func finish() throws(Failure) {
        guard index == input.count else { throw failure("something follows the value") }
    }

    package func check(depth: Int) throws(Failure) {
        guard depth < Self.maximumDepth else { throw failure("nested deeper than \(Self.maximumDepth) levels") }
    }

    // MARK: Objects and arrays

    /// Skips the brace that begins an object.
    package mutating func beginObject() throws(Failure) { try skip(UInt8(ascii: "{"), Self.noValue) }

    /// Skips the bracket that begins an array.
    package mutating func beginArray() throws(Failure) { try skip(UInt8(ascii: "["), Self.noValue) }

    /// Returns whether an object has another member; skips the comma before it, or the brace that ends the object.
    package mutating func hasMember(isFirst: Bool) throws(Failure) -> Bool {
        guard try hasNext(isFirst, UInt8(ascii: "}"), "an object does not end") else { return false }
        skipSpace()
        guard next == UInt8(ascii: "\"") else { throw failure("a name is missing") }
        return true
    }

    /// Skips the colon between the name of a member and its value.
    package mutating func skipColon() throws(Failure) {
        skipSpace()
        try skip(UInt8(ascii: ":"), "a colon is missing")
    }

    /// Returns whether an array has another element; skips the comma before it, or the bracket that ends the array.
    package mutating func hasElement(isFirst: Bool) throws(Failure) -> Bool {
        try hasNext(isFirst, UInt8(ascii: "]"), "an array does not end")
    }

    private mutating func hasNext(_ isFirst: Bool, _ end: UInt8, _ reason: String) throws(Failure) -> Bool {
        skipSpace()
        if isFirst ? next != end : next == UInt8(ascii: ",") {
            if !isFirst { index += 1 }
            return true
        }
        try skip(end, reason)
        return false
    }

    // MARK: Literals and numbers

    package mutating func skipLiteral(_ text: StaticString) throws(Failure) {
        for offset in 0..<text.utf8CodeUnitCount { try skip(text.utf8Start[offset], Self.noValue) }
    }

    /// Skips a number and returns its range.
    package mutating func skipNumber() throws(Failure) -> Range<Int> {
        let start = index
        if next == UInt8(ascii: "-") { index += 1 }
        if next == UInt8(ascii: "0") { index += 1 } else { try skipDigits() }
        if next == UInt8(ascii: ".") {
            index += 1
            try skipDigits()
        }
        if let byte = next, byte | 0x20 == UInt8(ascii: "e") {
            index += 1
            if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { index += 1 }
            try skipDigits()
        }
        return start..<index
    }

    private mutating func skipDigits() throws(Failure) {
        let start = index
        while let byte = next, byte.isDigit { index += 1 }
        guard index > start else { throw failure(Self.noValue) }
    }

    private static let noValue = "no value is written so"

    // MARK: Strings

    /// Skips a string and returns its range, including its quotation marks.
    mutating func skipString() throws(Failure) -> Range<Int> {
        let start = index
        var text: [UInt8]?
        try readString(&text)
        return start..<index
    }

    /// Reads a string and resolves its escapes.
    package mutating func readString() throws(Failure) -> String {
        let start = index + 1
        var bytes: [UInt8]? = []
        try readString(&bytes)
        guard let bytes, let text = String(validating: bytes, as: UTF8.self) else {
            throw Failure(offset: start, reason: "a string is not UTF-8")
        }
        return text
    }

    private mutating func readString(_ text: inout [UInt8]?) throws(Failure) {
        try skip(UInt8(ascii: "\""), "a string is missing")
        while true {
            let part = index
            while let byte = next, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") {
                guard byte >= 0x20 else { throw failure("a control character in a string") }
                index += 1
            }
            text?.append(contentsOf: input[part..<index])
            guard next == UInt8(ascii: "\\") else { break }
            let scalar = try readEscape()
            text?.append(contentsOf: UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter)
        }
        try skip(UInt8(ascii: "\""), "a string does not end")
    }

    /// Reads an escape, which begins with a backslash.
    ///
    /// A surrogate without its other half becomes U+FFFD, because some writers cut texts in the middle of a character.
    mutating func readEscape() throws(Failure) -> Unicode.Scalar {
        index += 1
        guard let byte = next else { throw failure("") }
        guard byte == UInt8(ascii: "u") else {
            guard let scalar = Self.scalar(ofEscape: byte) else { throw failure("no escape is written so") }
            index += 1
            return scalar
        }
        index += 1
        let first = try readHex()
        if let scalar = Unicode.Scalar(first) { return scalar }
        let place = index
        if first < 0xdc00, next == UInt8(ascii: "\\"), index + 1 < input.count, input[index + 1] == UInt8(ascii: "u") {
            index += 2
            let second = try readHex()
            let high = UInt32(first) &- 0xd800
            let low = UInt32(second) &- 0xdc00
            if (0xdc00...0xdfff).contains(second), let scalar = Unicode.Scalar(0x10000 + (high << 10 | low)) {
                return scalar
            }
            index = place
        }
        return "\u{fffd}"
    }

    private mutating func readHex() throws(Failure) -> UInt16 {
        var value: UInt16 = 0
        for _ in 0..<4 {
            guard let digit = next?.hexDigit else { throw failure("no escape is written so") }
            value = value << 4 | UInt16(digit)
            index += 1
        }
        return value
    }

    private static func scalar(ofEscape letter: UInt8) -> Unicode.Scalar? {
        switch letter {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): Unicode.Scalar(letter)
        case UInt8(ascii: "b"): "\u{8}"
        case UInt8(ascii: "f"): "\u{c}"
        case UInt8(ascii: "n"): "\n"
        case UInt8(ascii: "r"): "\r"
        case UInt8(ascii: "t"): "\t"
        default: nil
        }
    }
}
