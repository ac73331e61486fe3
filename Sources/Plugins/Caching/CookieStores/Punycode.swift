import Foundation

/// The encoding of Unicode labels in host names (RFC 3492).
enum Punycode {
    /// Encodes a label with the parameters of RFC 3492, section 5, without the prefix `xn--`.
    ///
    /// The time grows with the square of the length; callers limit the length to that of a label.
    static func encode(_ label: [Unicode.Scalar]) -> String {
        var output = label.filter(\.isASCII).map { UInt8($0.value) }
        let basicCount = output.count
        if basicCount > 0 { output.append(UInt8(ascii: "-")) }

        var encodedCount = basicCount
        var codePoint = 0x80
        var delta = 0
        var bias = 72
        for next in Set(label.lazy.filter { !$0.isASCII }.map { Int($0.value) }).sorted() {
            delta += (next - codePoint) * (encodedCount + 1)
            codePoint = next
            for scalar in label {
                if scalar.value < codePoint { delta += 1 }
                guard scalar.value == codePoint else { continue }
                append(delta, bias: bias, to: &output)
                bias = adapted(delta, encodedCount: encodedCount + 1, isFirst: encodedCount == basicCount)
                delta = 0
                encodedCount += 1
            }
            delta += 1
            codePoint += 1
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// Appends a number as a generalized variable-length integer (RFC 3492, section 3.3).
    private static func append(_ number: Int, bias: Int, to output: inout [UInt8]) {
        var rest = number
        var position = base
        while true {
            let threshold = min(max(position - bias, 1), 26)
            guard rest >= threshold else { break }
            output.append(digit(threshold + (rest - threshold) % (base - threshold)))
            rest = (rest - threshold) / (base - threshold)
            position += base
        }
        output.append(digit(rest))
    }

    /// Returns the bias for the next number (RFC 3492, section 6.1).
    private static func adapted(_ delta: Int, encodedCount: Int, isFirst: Bool) -> Int {
        var rest = isFirst ? delta / 700 : delta / 2
        rest += rest / encodedCount
        var bias = 0
        while rest > (base - 1) * 26 / 2 {
            rest /= base - 1
            bias += base
        }
        return bias + base * rest / (rest + 38)
    }

    private static let base = 36

    /// Returns a digit in lower case: `a` to `z` are 0 to 25, `0` to `9` are 26 to 35.
    private static func digit(_ value: Int) -> UInt8 {
        UInt8(value < 26 ? 0x61 + value : 0x30 + value - 26)
    }
}

extension Punycode {
    /// Returns a host name in lower-case ASCII form, in which host names and cookie domains are compared.
    ///
    /// Converts the name to lower case and to Unicode normalization form C. Encodes each label that is not ASCII, and
    /// adds the prefix `xn--`. The ideographic full stops U+3002, U+FF0E and U+FF61 separate labels as a dot
    /// does. The other mappings and checks of UTS #46 are not applied: full-width letters are not folded, and a label
    /// that begins with `xn--` is not decoded.
    ///
    /// IPv4 addresses and bracketed IPv6 addresses keep their form, in lower case. A dot at the end is kept, because
    /// `example.com.` and `example.com` are different hosts to the URL standard.
    ///
    /// - Returns: `nil` if a label is empty or longer than 63 bytes, if the name is longer than 253 bytes without the
    ///   dot at its end, or if it contains a character that the URL standard forbids in a host, such as `:` or a space.
    static func asciiHost(_ host: String) -> String? {
        // A byte of the result takes at most 16 bytes of input: NFC makes one character of up to four.
        guard host.utf8.count <= 16 * 254 else { return nil }
        if host.utf8.first == UInt8(ascii: "[") { return bracketedAddress(host) }

        let name = host.utf8.allSatisfy { $0 < 0x80 } ? host.lowercased() : asciiLabels(of: host)
        guard let name, isHostName(name) else { return nil }
        return name
    }

    /// Whether a host in ASCII form is an IP address to the URL standard: in brackets, or with a number as its last
    /// label, also in short and hexadecimal forms such as `127.1` and `0x7f.1`.
    static func isIPAddress(_ host: String) -> Bool {
        if host.utf8.first == UInt8(ascii: "[") { return true }
        guard let last = host.utf8.split(separator: UInt8(ascii: ".")).last else { return false }
        if last.starts(with: "0x".utf8) { return last.dropFirst(2).allSatisfy(isHexadecimal) }
        return last.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
    }

    private static func asciiLabels(of host: String) -> String? {
        let name = host.lowercased().precomposedStringWithCanonicalMapping.unicodeScalars
        var labels: [String] = []
        for label in name.split(omittingEmptySubsequences: false, whereSeparator: isDot) {
            if label.allSatisfy(\.isASCII) {
                labels.append(String(label))
            } else {
                // Each character takes at least one byte of the 63.
                guard label.count <= 63, !label.starts(with: "xn--".unicodeScalars) else { return nil }
                // The NFC of U+037E is `;`: the caller looks for forbidden characters in the result, which keeps ASCII.
                labels.append("xn--" + encode(Array(label)))
            }
        }
        return labels.joined(separator: ".")
    }

    private static func bracketedAddress(_ host: String) -> String? {
        let address = host.utf8.dropFirst().dropLast()
        guard host.utf8.last == UInt8(ascii: "]"), 2...45 ~= address.count, address.contains(UInt8(ascii: ":")),
            address.allSatisfy({ isHexadecimal($0) || $0 == UInt8(ascii: ":") || $0 == UInt8(ascii: ".") })
        else { return nil }
        return host.lowercased()
    }

    private static func isDot(_ scalar: Unicode.Scalar) -> Bool {
        [".", "\u{3002}", "\u{FF0E}", "\u{FF61}"].contains(scalar)
    }

    private static func isHostName(_ name: String) -> Bool {
        var labelByteCount = 0
        for byte in name.utf8 {
            if byte == UInt8(ascii: ".") {
                guard 1...63 ~= labelByteCount else { return false }
                labelByteCount = 0
            } else {
                if isForbidden(byte) { return false }
                labelByteCount += 1
            }
        }
        let endsWithDot = labelByteCount == 0
        return labelByteCount <= 63 && 1...253 ~= name.utf8.count - (endsWithDot ? 1 : 0)
    }

    private static func isForbidden(_ byte: UInt8) -> Bool {
        switch Unicode.Scalar(byte) {
        case "\0"..." ", "\"", "#", "%", ",", "/", ":", ";", "<", ">", "?", "@", "["..."^", "|", "\u{7F}": true
        default: false
        }
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        Character(Unicode.Scalar(byte)).isHexDigit
    }
}
