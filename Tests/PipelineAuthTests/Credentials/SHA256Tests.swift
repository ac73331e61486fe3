import Foundation
import PipelineHashes
import PipelinePlugins
import TestSupport
import Testing

@Suite("SHA-256", .watched)
struct SHA256Tests {
    @Test(
        "Hashes match the examples of FIPS 180-4",
        arguments: [
            ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
            ),
        ]
    )
    func sha256(text: String, hash: String) {
        #expect(HashTests.hex(SHA256.hash(Array(text.utf8))) == hash)
    }

    @Test(
        "A message in pieces of any size has the same hash as in one",
        arguments: [0, 1, 55, 56, 63, 64, 65, 119, 1_000]
    )
    func pieces(byteCount: Int) {
        let message = (0..<byteCount).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        for size in [1, 3, 64, 100] {
            var hash = SHA256()
            for start in stride(from: 0, to: message.count, by: size) {
                hash.update(message[start..<min(start + size, message.count)])
            }
            #expect(hash.finish() == SHA256.hash(message))
        }
    }

    @Test("A million letters a have the hash of FIPS 180-2")
    func million() {
        var hash = SHA256()
        for _ in 0..<1_000 { hash.update(repeatElement(UInt8(ascii: "a"), count: 1_000)) }
        #expect(
            HashTests.hex(hash.finish()) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
        )
    }
}
