import Foundation
import HTTPTypes
import PipelinePlugins
import TestSupport
import Testing

@testable import PipelineSigning

@Suite("ContentDigest", .watched)
struct ContentDigestTests {
    @Test("The values are those of RFC 9530")
    func values() {
        let sha256 = "sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:"
        #expect(ContentDigest.sha256.fieldValue(for: SignatureVectors.body) == sha256)
        #expect(ContentDigest.sha512.fieldValue(for: SignatureVectors.body) == SignatureVectors.digest)
    }

    @Test(
        "A field belongs to a body if it has a known hash, and all known hashes match",
        arguments: [
            (SignatureVectors.digest, nil), (SignatureVectors.responseDigest, .digestMismatch),
            ("sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:, " + SignatureVectors.digest, nil),
            ("sha-256=:AA==:, " + SignatureVectors.digest, .digestMismatch),
            ("unixsum=30637, " + SignatureVectors.digest, nil), ("md5=:AA==:", .digestMismatch),
            ("sha-256", .digestMismatch), ("", .digestMismatch), ("sha-256=(", .malformed), (nil, .missingComponent),
        ] as [(String?, MessageSignatureError.Reason?)]
    )
    func verification(value: String?, reason: MessageSignatureError.Reason?) {
        var fields = HTTPFields()
        if let value { fields[.contentDigest] = value }
        var thrown: MessageSignatureError.Reason?
        do { try ContentDigest.verify(SignatureVectors.body, fields: fields) } catch {
            thrown = (error as? MessageSignatureError)?.reason
        }
        #expect(thrown == reason)
    }
}
