/// The beginnings of secret values of 8 bytes or more, in each form in which a text may contain them.
///
/// Most texts contain no secret. Searching for the beginnings establishes that at a fraction of the cost of
/// ``SecretValues``, which must be built first.
struct SecretBeginnings: Sendable {
    /// The first 8 bytes of a value and of its three base64 forms.
    private typealias Forms = SIMD4<UInt64>

    /// Stored inline, because many calls have one secret.
    private var first: Forms?
    private var others: [Forms] = []

    /// For a longer text, ``SecretValues`` costs less.
    private static let longestText = 4_096

    var isEmpty: Bool { first == nil }

    /// - Parameter value: the value, of 8 bytes or more.
    mutating func insert(_ value: Substring) {
        var clear: UInt64 = 0
        var folded: UInt64 = 0
        for byte in value.utf8.prefix(8) {
            clear = clear << 8 | UInt64(byte)
            folded = folded << 8 | UInt64(SecretAutomaton.fold(byte))
        }
        // The digits that do not depend on the text before the value: they begin with its bits 0, 4 and 2.
        let forms = Forms(
            folded,
            Self.digits(of: clear >> 16),
            Self.digits(of: clear >> 12),
            Self.digits(of: clear >> 14)
        )
        if first == nil {
            first = forms
        } else if first != forms, !others.contains(forms) {
            others.append(forms)
        }
    }

    /// Returns the base64 digits of the lowest 48 bits.
    private static func digits(of bits: UInt64) -> UInt64 {
        var digits: UInt64 = 0
        for shift in stride(from: 42, through: 0, by: -6) {
            digits = digits << 8 | UInt64(alphabet[Int(bits >> UInt64(shift) & 63)])
        }
        return digits
    }

    /// The digits of base64 (RFC 4648 §4).
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    // MARK: Searching

    /// Returns `false` only if a text contains none of the values in any form; `true` if it may contain one.
    func mayBeFound(in text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard text.count <= Self.longestText else { return true }
        var finding = scan(text)
        var decoded: [UInt8]?
        // Nested escapes, as deep as `SecretValues` looks.
        for _ in 0..<2 where finding == .escapes {
            let resolved = PercentEscapes.decoded(decoded ?? Array(text), plus: UInt8(ascii: "+"))
            finding = resolved.withUnsafeBufferPointer(scan)
            decoded = resolved
        }
        return finding == .something
    }

    private enum Finding { case nothing, escapes, something }

    private func scan(_ text: UnsafeBufferPointer<UInt8>) -> Finding {
        guard let first else { return .nothing }
        var window: UInt64 = 0
        var hasPercent = false
        for byte in text {
            // JSON escapes are rare in the texts searched here.
            if byte == UInt8(ascii: "\\") { return .something }
            if byte == UInt8(ascii: "%") { hasPercent = true }
            window = window << 8 | UInt64(SecretAutomaton.fold(byte))
            if any(first .== window) { return .something }
            for forms in others where any(forms .== window) { return .something }
        }
        return hasPercent ? .escapes : .nothing
    }
}
