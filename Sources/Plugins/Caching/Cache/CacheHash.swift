import Foundation

/// A keyed hash of 128 bits for the keys of a cache.
///
/// Without the secret of the store, it is not feasible to find two requests with the same hash, or to check what a hash
/// belongs to.
///
/// Source: Aumasson and Bernstein, SipHash-2-4 with 128 bits of output, https://www.aumasson.jp/siphash/siphash.pdf
struct CacheHash: Sendable {
    private let first: UInt64
    private let second: UInt64

    /// Makes a hash from the first 16 bytes of a secret; `nil` if it is shorter.
    init?(secret: Data) {
        guard secret.count >= 16 else { return nil }
        (first, second) = secret.withUnsafeBytes { bytes in
            (
                UInt64(littleEndian: bytes.loadUnaligned(as: UInt64.self)),
                UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            )
        }
    }

    /// Returns the hash of a text as 32 hexadecimal digits.
    func callAsFunction(_ text: String) -> String {
        var text = text
        return text.withUTF8 { hash(UnsafeRawBufferPointer($0)) }
    }

    /// Returns the hash of bytes as 32 hexadecimal digits.
    func callAsFunction(_ bytes: Data) -> String {
        bytes.withUnsafeBytes { hash($0) }
    }

    private func hash(_ bytes: UnsafeRawBufferPointer) -> String {
        var state = State(first, second)
        let wholeCount = bytes.count & ~7
        for start in stride(from: 0, to: wholeCount, by: 8) {
            state.add(UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: start, as: UInt64.self)))
        }
        var last = UInt64(truncatingIfNeeded: bytes.count) << 56
        for index in wholeCount..<bytes.count { last |= UInt64(bytes[index]) << UInt64((index - wholeCount) * 8) }
        state.add(last)
        let (one, other) = state.finish()
        return String(unsafeUninitializedCapacity: 32) { digits in
            for (offset, word) in [(0, one), (16, other)] {
                for index in 0..<16 {
                    let digit = UInt8(truncatingIfNeeded: word >> UInt64(60 - index * 4)) & 15
                    digits[offset + index] = digit < 10 ? 48 + digit : 87 + digit
                }
            }
            return 32
        }
    }

    private struct State {
        private var v0: UInt64
        private var v1: UInt64
        private var v2: UInt64
        private var v3: UInt64

        init(_ first: UInt64, _ second: UInt64) {
            v0 = first ^ 0x736f_6d65_7073_6575
            v1 = second ^ 0x646f_7261_6e64_6f6d ^ 0xee
            v2 = first ^ 0x6c79_6765_6e65_7261
            v3 = second ^ 0x7465_6462_7974_6573
        }

        mutating func add(_ word: UInt64) {
            v3 ^= word
            mix(2)
            v0 ^= word
        }

        mutating func finish() -> (UInt64, UInt64) {
            v2 ^= 0xee
            mix(4)
            let one = v0 ^ v1 ^ v2 ^ v3
            v1 ^= 0xdd
            mix(4)
            return (one, v0 ^ v1 ^ v2 ^ v3)
        }

        private mutating func mix(_ rounds: Int) {
            for _ in 0..<rounds {
                v0 &+= v1
                v1 = v1 << 13 | v1 >> 51
                v1 ^= v0
                v0 = v0 << 32 | v0 >> 32
                v2 &+= v3
                v3 = v3 << 16 | v3 >> 48
                v3 ^= v2
                v0 &+= v3
                v3 = v3 << 21 | v3 >> 43
                v3 ^= v0
                v2 &+= v1
                v1 = v1 << 17 | v1 >> 47
                v1 ^= v2
                v2 = v2 << 32 | v2 >> 32
            }
        }
    }
}
