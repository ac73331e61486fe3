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
