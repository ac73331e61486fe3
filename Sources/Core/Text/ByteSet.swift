/// A set of ASCII bytes, stored as two bit masks.
struct ByteSet: Sendable {
    let low: UInt64
    let high: UInt64

    @inline(__always)
    func contains(_ byte: UInt8) -> Bool {
        switch byte {
        case 0..<64: low >> UInt64(byte) & 1 == 1
        case 64..<128: high >> UInt64(byte - 64) & 1 == 1
        default: false
        }
    }

    // The masks follow the grammar of RFC 3986 (appendix A): bit n of `low` is byte n, bit n of `high` is byte 64 + n.

    /// pchar and slash.
    static let path = ByteSet(low: 0x2fff_ffd2_0000_0000, high: 0x47ff_fffe_87ff_ffff)
    /// pchar.
    static let segment = ByteSet(low: 0x2fff_7fd2_0000_0000, high: 0x47ff_fffe_87ff_ffff)
    /// pchar, slash and question mark.
    static let query = ByteSet(low: 0xafff_ffd2_0000_0000, high: 0x47ff_fffe_87ff_ffff)
    /// All bytes that a URI reference may contain, brackets and number sign included.
    static let reference = ByteSet(low: 0xafff_ffda_0000_0000, high: 0x47ff_fffe_afff_ffff)
    /// The bytes of ``hostName``, colon and square brackets.
    static let authority = ByteSet(low: 0x2fff_7fd2_0000_0000, high: 0x47ff_fffe_afff_fffe)
    /// unreserved and sub-delims.
    static let hostName = ByteSet(low: 0x2bff_7fd2_0000_0000, high: 0x47ff_fffe_87ff_fffe)
    /// Hexadecimal digits, colon and full stop.
    static let addressLiteral = ByteSet(low: 0x07ff_4000_0000_0000, high: 0x0000_007e_0000_007e)
    /// unreserved, slash and question mark: the bytes that are not escaped in a query name or value.
    static let formValue = ByteSet(low: 0x83ff_e000_0000_0000, high: 0x47ff_fffe_87ff_fffe)
    /// Decimal digits.
    static let digits = ByteSet(low: 0x03ff_0000_0000_0000, high: 0)
    /// Hexadecimal digits.
    static let hexDigits = ByteSet(low: 0x03ff_0000_0000_0000, high: 0x0000_007e_0000_007e)
}

extension UInt8 {
    /// The byte, in lowercase if it is an ASCII letter.
    var lowercasedASCII: UInt8 { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(self) ? self | 0x20 : self }
}
