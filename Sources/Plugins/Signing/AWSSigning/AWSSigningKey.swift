#if Crypto || canImport(CryptoKit)
import Foundation
import Synchronization
#if Crypto
import Crypto
#else
import CryptoKit
#endif

/// The key of a day, a region and a service, which is derived from a secret access key.
///
/// Source: https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html
struct AWSSigningKey: Sendable {
    /// The time of the signature, such as `20150830T123600Z`.
    let time: String
    /// The day, the region and the service that the key is for.
    let scope: String
    private let key: SymmetricKey

    init(
        _ credentials: AWSCredentials,
        region: String,
        service: String,
        at date: Date,
        last: AWSLastKey = AWSLastKey()
    ) {
        let style = Date.ISO8601FormatStyle(timeZone: .gmt)
            .year().month().day().dateSeparator(.omitted).time(includingFractionalSeconds: false)
            .timeSeparator(.omitted).timeZone(separator: .omitted)
        time = date.formatted(style)
        let day = String(time.prefix(8))
        scope = "\(day)/\(region)/\(service)/aws4_request"
        key = last.key(of: credentials.secretAccessKey, scope) {
            var key = SymmetricKey(data: Data("AWS4\(credentials.secretAccessKey)".utf8))
            for part in [day, region, service, "aws4_request"] {
                key = SymmetricKey(data: HMAC<SHA256>.authenticationCode(for: Data(part.utf8), using: key))
            }
            return key
        }
    }

    /// Returns the text that is signed for a request.
    func textToSign(_ canonical: AWSCanonicalRequest) -> String {
        "AWS4-HMAC-SHA256\n\(time)\n\(scope)\n\(Self.hash(Data(canonical.text.utf8)))"
    }

    /// Returns the signature of a text, in hexadecimal digits.
    func signature(of text: String) -> String {
        HMAC<SHA256>.authenticationCode(for: Data(text.utf8), using: key).hexadecimal
    }

    /// Returns the signature of a chunk, which continues the one before it.
    ///
    /// Source: https://docs.aws.amazon.com/AmazonS3/latest/API/sigv4-streaming.html
    func signature(ofChunk chunk: Data, after previous: String) -> String {
        let lines = ["AWS4-HMAC-SHA256-PAYLOAD", time, scope, previous, Self.hash(Data()), Self.hash(chunk)]
        return signature(of: lines.joined(separator: "\n"))
    }

    /// Returns the SHA-256 hash in hexadecimal digits.
    static func hash(_ bytes: Data) -> String { SHA256.hash(data: bytes).hexadecimal }

    /// Returns the hash of a body that is read in pieces.
    static func hash(_ pieces: some AsyncSequence<Data, any Error>) async throws -> String {
        var hash = SHA256()
        for try await piece in pieces { hash.update(data: piece) }
        return hash.finalize().hexadecimal
    }
}

/// The key that was derived last; to derive one costs a quarter of a signature.
final class AWSLastKey: Sendable {
    private let last = Mutex<(secret: String, scope: String, key: SymmetricKey)?>(nil)

    func key(of secret: String, _ scope: String, _ derive: () -> SymmetricKey) -> SymmetricKey {
        if let last = last.withLock({ $0 }), last.scope == scope, last.secret == secret { return last.key }
        let key = derive()
        last.withLock { $0 = (secret, scope, key) }
        return key
    }
}

extension Sequence<UInt8> {
    fileprivate var hexadecimal: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }
}
#endif
