import Foundation

/// The length and checksum (FNV-1a) of a body, so that bodies can be compared without being kept.
struct Digest: Hashable, Sendable, CustomStringConvertible {
    private(set) var byteCount = 0
    private var sum: UInt64 = 0xcbf2_9ce4_8422_2325

    init() {}

    init(_ data: Data) { add(data) }

    mutating func add(_ data: Data) {
        byteCount += data.count
        sum = data.withUnsafeBytes { bytes in
            var sum = sum
            for byte in bytes { sum = (sum ^ UInt64(byte)) &* 0x100_0000_01b3 }
            return sum
        }
    }

    var description: String { "\(byteCount) bytes (\(String(sum, radix: 16)))" }
}
