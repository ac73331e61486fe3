import Foundation
import PipelinePlugins
import TestSupport
import Testing

@testable import PipelineCaching

@Suite("The hash of cache keys", .watched)
struct CacheHashTests {
    private static let secret = Data(0..<32)

    /// The lengths of 00, 01, 02 … and the two words that the reference implementation returns for them.
    @Test(
        "The hash is SipHash-2-4 with 128 bits of output",
        arguments: [
            (0, "e6a825ba047f81a3930255c71472f66d"), (1, "44af996bd8c187da45fc229b11597634"),
            (7, "53c1dbd8beebf1a13982f01fa64ab8c0"), (8, "61f55862baa9623bb49714f364e2830f"),
            (15, "11a8b03399e99354d9c3cf970fec087e"), (63, "4a83502f77d150517cbd3f979a063e50"),
        ]
    )
    func vectors(count: Int, expected: String) throws {
        let hash = try #require(CacheHash(secret: Self.secret))
        #expect(hash(Data((0..<count).map(UInt8.init))) == expected)
    }

    @Test("A text has the hash of its bytes in UTF-8")
    func text() throws {
        let hash = try #require(CacheHash(secret: Self.secret))
        #expect(hash("https://a.test/ä") == hash(Data("https://a.test/ä".utf8)))
    }

    @Test("Each byte of the secret up to the 16th changes the hash, and a shorter secret makes none")
    func secrets() {
        let hashes = (0..<16).map { index in
            var secret = Self.secret
            secret[index] ^= 1
            return CacheHash(secret: secret)?("a")
        }
        #expect(Set(hashes + [CacheHash(secret: Self.secret)?("a")]).count == 17)
        #expect(CacheHash(secret: Self.secret.prefix(15)) == nil)
        #expect(CacheHash(secret: Self.secret.prefix(16)) != nil)
    }
}
