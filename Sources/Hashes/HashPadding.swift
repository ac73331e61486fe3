/// The padding that MD5 and SHA-256 share: blocks of 64 bytes, filled up with a 1 bit, zeros, and the length in bits.
public enum HashPadding {
    /// Returns the padded message in words, 16 per block.
    public static func words(of message: [UInt8], isBigEndian: Bool) -> [UInt32] {
        let zeroCount = (119 - message.count % 64) % 64
        let bitCount = UInt64(message.count) << 3
        let shifts: [UInt64] = [0, 8, 16, 24, 32, 40, 48, 56]
        let length = shifts.map { UInt8(truncatingIfNeeded: bitCount >> (isBigEndian ? 56 - $0 : $0)) }
        let padded = message + [0x80] + [UInt8](repeating: 0, count: zeroCount) + length
        return stride(from: 0, to: padded.count, by: 4).map { start in
            let word = padded[start..<start + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
            return isBigEndian ? word : word.byteSwapped
        }
    }
}
