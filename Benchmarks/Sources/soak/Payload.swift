import CZlibDirect
import Foundation

/// The bodies of a run: text made from the seed, so that client and server have the same text without an exchange.
struct Payload: Sendable {
    static let variantCount = 64
    static let largeByteCount = 1 << 20
    private static let byteCounts = [0, 1, 17, 120, 900, 4_096, 16_384, 65_000]

    /// A body that may be sent as is or in gzip.
    struct Body: Sendable {
        let data: Data
        let digest: Digest
        let gzip: Data
        let gzipDigest: Digest

        init(_ data: Data) {
            self.data = data
            digest = Digest(data)
            gzip = Self.makeGzip(data)
            gzipDigest = Digest(gzip)
        }

        private static func makeGzip(_ data: Data) -> Data {
            let input = [UInt8](data)
            var output = [UInt8](repeating: 0, count: input.count * 2 + 128)
            let count = direct_gzip(input, input.count, 6, &output, output.count)
            precondition(count > 0, "zlib failed to compress \(input.count) bytes")
            return Data(output[..<count])
        }
    }

    /// Bodies of 0 to 65,000 bytes.
    let bodies: [Body]
    /// A body of 1 MiB.
    let large: Data
    let largeDigest: Digest
    /// The digest of the first half of the large body.
    let halfDigest: Digest

    init(seed: UInt64) {
        let letters = Array("etaoin shrdlu\n{}\"".utf8)
        let byteCount = Self.largeByteCount + 16_384
        var block = Data(capacity: byteCount)
        for index in 0..<byteCount / 8 {
            var word = Draw.mix(seed &+ UInt64(index))
            for _ in 0..<8 {
                block.append(letters[Int(word & 0xff) % letters.count])
                word >>= 8
            }
        }
        bodies = (0..<Self.variantCount).map { variant in
            let offset = variant * 131
            return Body(Data(block[offset..<offset + Self.byteCounts[variant % Self.byteCounts.count]]))
        }
        large = Data(block.prefix(Self.largeByteCount))
        largeDigest = Digest(large)
        halfDigest = Digest(large.prefix(Self.largeByteCount / 2))
    }
}
