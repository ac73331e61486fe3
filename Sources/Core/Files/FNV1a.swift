/// A 64-bit hash that detects accidental changes but does not resist attacks.
///
/// Source: G. Fowler, L. Noll, K. Vo, D. Eastlake, *The FNV Non-Cryptographic Hash Algorithm*,
/// https://datatracker.ietf.org/doc/html/draft-eastlake-fnv
package struct FNV1a: Sendable {
    package private(set) var value: UInt64 = 0xcbf2_9ce4_8422_2325

    package init() {}

    package mutating func add(_ bytes: some Sequence<UInt8>) {
        for byte in bytes { value = (value ^ UInt64(byte)) &* 0x100_0000_01b3 }
    }
}
