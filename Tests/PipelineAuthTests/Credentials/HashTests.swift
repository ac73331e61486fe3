import Foundation
import PipelineHashes
import PipelinePlugins
import TestSupport
import Testing

@testable import PipelineAuth

@Suite("Hash functions for Digest", .watched)
struct HashTests {
    static func hex(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }

    @Test("Hashes are correct for every length up to 130 bytes, which covers every padding")
    func lengths() {
        let rows = hashVectors.split(separator: "\n").map { $0.split(separator: " ") }
        #expect(rows.count == 131)
        for row in rows {
            let message = (0..<(Int(row[0]) ?? 0)).map { UInt8(truncatingIfNeeded: $0 * 7 + 3) }
            #expect(Self.hex(MD5.hash(message)) == row[1], "MD5 of \(message.count) bytes")
            #expect(Self.hex(SHA256.hash(message)) == row[2], "SHA-256 of \(message.count) bytes")
        }
    }
}
