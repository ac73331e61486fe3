#if canImport(Security)
import Foundation
import Pipeline
import PipelineTesting
import Security
import TestSupport
import Testing

@testable import PipelineTransports

/// What URLSessionTransport expects of Apple's Security framework.
@Suite("URLSessionTransport: certificates", .tags(.concurrent), .watched)
struct URLSessionTrustChallengeTests {
    private static let ecCertificate = """
        MIIBkDCCATegAwIBAgIUNy2GTE8PCoF5RPW8uFoE4YXNtjkwCgYIKoZIzj0EAwIwHTEbMBkGA1UEAwwSY2xpZW50LmV4YW1wbGUu
        Y29tMCAXDTI2MTEzMDE3MDc1OFoYDzIxMjYxMTA2MTcwNzU4WjAdMRswGQYDVQQDDBJjbGllbnQuZXhhbXBsZS5jb20wWTATBgcq
        hkjOPQIBBggqhkjOPQMBBwNCAATvnZOb6YeUozi2ByPQOw+W3vHR2tKspGTzIfzCbLdQO2XzNWjOLG+tROOdqeGnJyUitkxoDrWq
        mHODfc7oQnb4o1MwUTAdBgNVHQ4EFgQUnLdxiOJXir29Rz+HkVl5Gz5QALEwHwYDVR0jBBgwFoAUnLdxiOJXir29Rz+HkVl5Gz5Q
        ALEwDwYDVR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNHADBEAiBjLyoTr2+U1NY/3h8OiPDmD0/QzccbhFM68+nGDYUmXAIgXR6P
        zP7hakB63ps38CuBM7Mf5S9PYoODKEi4Pw8jd7Y=
        """
    private static let rsaCertificate = """
        MIIDFzCCAf+gAwIBAgIUY4vRg1n4WOmGGeQPGA+2kzrzTxcwDQYJKoZIhvcNAQELBQAwGjEYMBYGA1UEAwwPcnNhLmV4YW1wbGUu
        Y29tMCAXDTI2MTEzMDE3MDc1OFoYDzIxMjYxMTA2MTcwNzU4WjAaMRgwFgYDVQQDDA9yc2EuZXhhbXBsZS5jb20wggEiMA0GCSqG
        SIb3DQEBAQUAA4IBDwAwggEKAoIBAQDbYKAfNApmC++Fb5v9GTJtKZdM1TIWtznsrasNyIuA5/1/XyvUcKBdB1U7ss4il33keA1t
        Mg/M4GngBPm4zkjBo3upUCbWFZghg7vtLoCnz/JyPp4WNI0zhwHli6s+kepWE7pZwlD0xZuhsL1ant9ks7BJExV7txCl+5Hg8w7M
        BLvbBeXDCneiR/9K78GkeJ3ieMiuHZRvlaCJmZ1bfL+Tmuscmglnug9beLQ8rk3xqWPJZquv2vWPslIhqozfAM+aRsUvuoK6VBQX
        XVxQhJ0KmUY8+ZDDgxuL8QAzSaslMFXPPGqesPOmHAjGux3Sdu5sWuVEG0/Z3zjox3QVf/M3AgMBAAGjUzBRMB0GA1UdDgQWBBSf
        MaBpQ8v5IvMJEgoUVf665OtrsDAfBgNVHSMEGDAWgBSfMaBpQ8v5IvMJEgoUVf665OtrsDAPBgNVHRMBAf8EBTADAQH/MA0GCSqG
        SIb3DQEBCwUAA4IBAQBPdR05z4Z+jA8Q0FQv0hDi1yEfhn0WysYa7v7ed7d1mzLyiB6voybUSZAtMRuk96giWFG811/4pfFTDxR5
        0lrXl1bv7HsM2bTigwhE9j9sczBOjx686s8O0clmZ4Vs9Juqud4vZ6DyZaUV7NJqrjxFo0x8M2HIRyGUZIT32vNJBXTcExDYvFM4
        +mnT5dULqxiyLK1ogh5vqWhZOMaJqF9VNJKHq7m934VXCrXChxRU1LbNJwtfC0MEq3CAcBsPMYWnKjRMS9A3Gql+z/RGRXR9agRk
        pTCmo7MOSY/mR1sh3h7ncMGze59jx5ouGcsA03XjVNs4YFt0rs95UjCMuYtL
        """
    /// The first certificate and its key, with the passphrase "passphrase".
    private static let pkcs12 = """
        MIIDkgIBAzCCA1gGCSqGSIb3DQEHAaCCA0kEggNFMIIDQTCCAjcGCSqGSIb3DQEHBqCCAigwggIkAgEAMIICHQYJKoZIhvcNAQcB
        MBwGCiqGSIb3DQEMAQMwDgQIO2F4sIE/3LMCAggAgIIB8G99pMAHF9PkQClQjsqUmkAJeMXBRCvj7vyiQ+SxuZXIPeD+ErhQaxmp
        HGTsmhGSSa2I5IJT5IWi+FnITGnJh5ZeLaCznP5Pyniy8kiEJ0It6fC1QTEt/ipS04cegT6J/h+Y4TdbfAEemXxYoSnO67LbSEOC
        +9Ou4LXcxfyVaceCB4O9+JghmntsSIrP1Y6JTiJe1uDZM02RkkZikpU0DVjOYqAsDd2WQojhmO5aB5hGu5jO45bXtLzNrzqxTT2x
        u9H6rjYa3xjDJde5S9RyhPwOm1UXjBvSDEj4JqIDTnd9seaveGvHsCO45JbDh3mtpyaom2HAL3daj4kn4H9Cy6L3PUhp3EOzrMrx
        597XDc4SFAy/1r99kt2XKAA5/kPj+ei/o0uc8XM9uxZyEW/Fk7ypkwsW6+KFPfq89DILCnR+AN00pdtTcEy44eGOTHcy8rJJDfrr
        544mURThDr4lnQ2w29PR50csq4/GqpKbCpcYNVkdDOEuMPZCHggB/NtoFNLw/JcTDsa5Q40LxzsX05kRvjGz3X2FnjEvSm5Vu3eF
        ynCmjyBxFNPG5M0zfGCrsXz3pUA1FwiSECrOrFKtmay53qtyLOuI+h2tGrW5qhTBm1t8uzSQxY8KIyRroOgKqQ1h8ixwT6v+40tL
        PIKJNw4wggECBgkqhkiG9w0BBwGggfQEgfEwge4wgesGCyqGSIb3DQEMCgECoIG0MIGxMBwGCiqGSIb3DQEMAQMwDgQIBoLXYN8q
        qdoCAggABIGQGHnQXZO+zn5i99xJGcYJKbxPeInvXeOrsehQp2V+odLTgVTDOtJR3afJukkbkY//CwCcFPY+1jxur/OJpIhCcgy0
        28199NARyjjDT7aUG2XKnYD9JBNF6vEqxzgaDdvNZqitLsF8TzNzzRYj3EimFBSqmfHqJP1SIfe7RDj3ZnaClPgUko63HCvFjIsD
        xspLMSUwIwYJKoZIhvcNAQkVMRYEFKBgSaYq88xNlQ4lX/9kNG85h3PgMDEwITAJBgUrDgMCGgUABBRva0vMkbHehbb9yFwufWuE
        xnw6OgQIn3rjUZPQm4wCAggA
        """

    private static func data(_ text: String) throws -> Data {
        try #require(Data(base64Encoded: text, options: .ignoreUnknownCharacters))
    }

    private static func trust(_ text: String) throws -> SecTrust {
        let certificate = try #require(SecCertificateCreateWithData(nil, try data(text) as CFData))
        var trust: SecTrust?
        #expect(SecTrustCreateWithCertificates(certificate, SecPolicyCreateBasicX509(), &trust) == errSecSuccess)
        return try #require(trust)
    }

    @Test(
        "The pin of a certificate is the hash of its key, as OpenSSL writes it",
        arguments: [
            (ecCertificate, "sha256/3nHCp9gRkyKu8EwXHMKMr0y3vbefIo/rugmFct4D/SY="),
            (rsaCertificate, "sha256/Qew0IiB5HiT3mz9gNmdwHyYwiJyNqqnJ2cacmn9kyo4="),
        ]
    )
    func pin(_ certificate: String, _ pin: String) throws {
        #expect(URLSessionTrust.pin(of: try Self.trust(certificate))?.description == pin)
    }

    @Test("Only its own authority makes a certificate trusted")
    func authorities() throws {
        let trust = try Self.trust(Self.ecCertificate)
        #expect(!SecTrustEvaluateWithError(trust, nil))
        let anchor = try #require(SecCertificateCreateWithData(nil, try Self.data(Self.ecCertificate) as CFData))
        #expect(SecTrustSetAnchorCertificates(trust, [anchor] as CFArray) == errSecSuccess)
        #expect(SecTrustSetAnchorCertificatesOnly(trust, true) == errSecSuccess)
        #expect(SecTrustEvaluateWithError(trust, nil))
    }

    @Test("An identity from PKCS#12 becomes a credential; a wrong passphrase is tls.configuration")
    func identity() throws {
        let bytes = try Self.data(Self.pkcs12)
        for (passphrase, isReadable) in [("passphrase", true), ("wrong", false)] {
            let identities = ClientIdentities(["a.test": try ClientIdentity(pkcs12: bytes, passphrase: passphrase)])
            let trust = try #require(URLSessionTrust(.system, identities))
            switch trust.answerIdentity(of: "a.test") {
            case .credential(let credential):
                #expect(isReadable)
                #expect(credential.identity != nil)
                #expect(credential.certificates.isEmpty)
            case .failure(let failure):
                #expect(!isReadable)
                #expect(failure.code == .tls(.configuration))
            case .platform: Issue.record("the identity is ignored")
            }
        }
    }

    @Test("Of the identities that the keychain returns, only one with the label is used")
    func label() throws {
        let items: [[CFString: Any]] = [
            [kSecValueRef: NSNumber(value: 1)], [kSecAttrLabel: "other", kSecValueRef: NSNumber(value: 2)],
            [kSecAttrLabel: "mine", kSecValueRef: NSNumber(value: 3)],
        ]
        #expect(ClientIdentity.identity("mine", in: items) as? NSNumber == 3)
        #expect(ClientIdentity.identity("Mine", in: items) == nil)
    }

    @Test("An identity that the keychain lacks is tls.configuration")
    func missingIdentity() throws {
        let identities = ClientIdentities(["a.test": .keychain(label: "Pipeline \(UUID().uuidString)")])
        let trust = try #require(URLSessionTrust(.system, identities))
        guard case .failure(let failure) = trust.answerIdentity(of: "a.test") else {
            Issue.record("the keychain returned another identity")
            return
        }
        #expect(failure.code == .tls(.configuration))
    }
}
#endif
