import Foundation

/// Every byte value, several times, so that it is not valid in any text encoding.
let binarySample = Data((0..<1_024).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 / 256) })

/// The bytes that httpbin's `/range` sends: the letters from a to z, repeated.
func rangeSample(_ bounds: Range<Int>) -> Data {
    Data(bounds.map { UInt8(ascii: "a") + UInt8($0 % 26) })
}

/// The bytes of the data URL that httpbin writes for a body that is not text.
func bytes(ofDataURL text: String) -> Data? {
    guard text.hasPrefix("data:"), let comma = text.firstIndex(of: ",") else { return nil }
    return Data(base64Encoded: String(text[text.index(after: comma)...]))
}

/// The checksum of RFC 1950 §8.2.
func adler32(_ data: Data) -> UInt32 {
    var (low, high): (UInt32, UInt32) = (1, 0)
    for byte in data {
        low = (low + UInt32(byte)) % 65_521
        high = (high + low) % 65_521
    }
    return high << 16 | low
}
