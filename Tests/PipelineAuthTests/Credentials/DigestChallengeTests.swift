import HTTPTypes
import PipelinePlugins
import TestSupport
import Testing

@testable import PipelineAuth

@Suite("DigestChallenge", .watched)
struct DigestChallengeTests {
    private static let mufasa = PasswordCredential(username: "Mufasa", password: "Circle of Life")
    private static let nonce = "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v"
    private static let clientNonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"

    private func answer(
        _ challenge: String,
        _ credential: PasswordCredential = mufasa,
        count: UInt32 = 1,
        clientNonce: String = clientNonce,
        nonce: String = nonce,
        target: String = "/dir/index.html"
    ) throws -> AuthenticationChallenge {
        let fields: HTTPFields = [.wwwAuthenticate: challenge]
        let digest = try #require(AuthenticationChallenge.challenges(in: fields).first.flatMap { DigestChallenge($0) })
        let use = DigestChallenge.NonceUse(nonce: nonce, clientNonce: clientNonce, count: count)
        let value = try digest.authorization(credential, method: "GET", target: target, use)
        return try #require(AuthenticationChallenge.challenges(in: [.wwwAuthenticate: value]).first)
    }

    private func makeChallenge(_ parameters: String, nonce: String = nonce) -> String {
        #"Digest realm="http-auth@example.org", nonce="\#(nonce)", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"\#(parameters)"#
    }

    @Test(
        "A06 The response matches RFC 7616 §3.9.1 and its session variants",
        arguments: [
            (", qop=\"auth, auth-int\", algorithm=MD5", "8ca523f5e9506fed4657c9700eebdbec", "MD5"),
            (
                ", qop=\"auth, auth-int\", algorithm=SHA-256",
                "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1", "SHA-256"
            ),
            (", qop=auth", "8ca523f5e9506fed4657c9700eebdbec", nil),
            (", qop=auth, algorithm=\"md5\"", "8ca523f5e9506fed4657c9700eebdbec", "md5"),
            (", qop=auth, algorithm=MD5-sess", "e783283f46242139c486a698fec7211d", "MD5-sess"),
            (
                ", qop=AUTH, algorithm=sha-256-SESS",
                "2fd51b3a77ad75bad6afad6003e818d767133c46d9e2749e7f5232ae1ea3efd7", "sha-256-SESS"
            ),
        ]
    )
    func rfc7616(parameters: String, response: String, algorithm: String?) throws {
        let answer = try answer(makeChallenge(parameters))
        #expect(answer["response"] == response)
        #expect(answer["algorithm"] == algorithm)
        let others = answer.parameters.filter { $0.key != "response" && $0.key != "algorithm" }
        #expect(
            others == [
                "username": "Mufasa", "realm": "http-auth@example.org", "uri": "/dir/index.html", "qop": "auth",
                "nonce": Self.nonce, "nc": "00000001", "cnonce": Self.clientNonce,
                "opaque": "FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS",
            ]
        )
    }

    @Test("The response matches RFC 2617 §3.5, and without qop RFC 2069 §2.4 with its erratum")
    func olderStandards() throws {
        let nonce = "dcd98b7102dd2f0e8b11d0f600bfb0c093"
        let challenge = #"Digest realm="testrealm@host.com", nonce="\#(nonce)""#
        let with = try answer(
            challenge + #", qop="auth,auth-int""#,
            .init(username: "Mufasa", password: "Circle Of Life"),
            clientNonce: "0a4f113b",
            nonce: nonce
        )
        #expect(with["response"] == "6629fae49393a05397450978507c4ef1")
        for quality in ["", ", qop=\"\""] {
            let without = try answer(
                challenge + quality,
                .init(username: "Mufasa", password: "CircleOfLife"),
                nonce: nonce
            )
            #expect(without["response"] == "1949323746fe6a43ef61f9606e7febea")
            #expect(Set(without.parameters.keys) == ["username", "realm", "nonce", "uri", "response"])
        }
    }

    @Test("qop, nc and algorithm are not quoted; the other parameters are", arguments: [UInt32(0), 0x1a, .max])
    func quoting(count: UInt32) throws {
        let fields: HTTPFields = [.wwwAuthenticate: makeChallenge(", qop=auth, algorithm=MD5")]
        let digest = try #require(AuthenticationChallenge.challenges(in: fields).first.flatMap { DigestChallenge($0) })
        let use = DigestChallenge.NonceUse(nonce: "n", clientNonce: "c", count: count)
        let value = try digest.authorization(Self.mufasa, method: "GET", target: "/", use)
        let digits = ["00000000", "0000001a", "ffffffff"][count == 0 ? 0 : count == .max ? 2 : 1]
        #expect(value.contains(", algorithm=MD5, qop=auth, nc=\(digits), cnonce=\"c\", "))
        #expect(
            value.hasPrefix(#"Digest username="Mufasa", realm="http-auth@example.org", nonce="n", uri="/", response=""#)
        )
    }

    @Test("The user name is quoted, extended if it is not ASCII, or hashed if the server asks for it")
    func usernames() throws {
        let challenge = makeChallenge(", qop=auth, algorithm=SHA-256, charset=UTF-8")
        let quoted = try answer(challenge, .init(username: #"a"b\c:d"#, password: ""))
        #expect(quoted["username"] == #"a"b\c:d"#)
        let extended = try answer(challenge, .init(username: "Ja\u{308}søn Doe", password: ""))
        #expect(extended["username*"] == "UTF-8''J%C3%A4s%C3%B8n%20Doe")
        #expect(extended["username"] == nil)
        let hashing = #"Digest realm="api@example.org", nonce="n", qop=auth, algorithm=SHA-256, userhash=true"#
        let hashed = try answer(hashing, .init(username: "Jäsøn Doe", password: ""))
        #expect(hashed["username"] == "5a1a8a47df5c298551b9b42ba9b05835174a5bd7d511ff7fe9191d8e946fc4e7")
        #expect(hashed["userhash"] == "true")
        #expect(hashed["username*"] == nil)
    }

    @Test("A realm with quotes is returned unchanged")
    func realm() throws {
        let answer = try answer(#"Digest realm="a \"b\" \\ c", nonce="n\\", qop=auth"#, nonce: #"n\"#)
        #expect(answer.realm == #"a "b" \ c"#)
        #expect(answer["nonce"] == #"n\"#)
    }

    @Test(
        "An unsupported challenge is rejected",
        arguments: [
            "Basic realm=a, nonce=b", "Digest realm=a", "Digest nonce=a",
            "Digest realm=a, nonce=b, algorithm=SHA-512-256",
            "Digest realm=a, nonce=b, algorithm=\"\"", "Digest realm=a, nonce=b, qop=auth-int",
            "Digest realm=a, nonce=b, qop=\"auth-int, auth-conf\"", "Digest realm=a, nonce=b, algorithm=MD5-sess",
            "Digest realm=a, nonce=" + String(repeating: "b", count: 4096),
        ]
    )
    func unanswerable(challenge: String) throws {
        let challenge = try #require(AuthenticationChallenge.challenges(in: [.wwwAuthenticate: challenge]).first)
        #expect(DigestChallenge(challenge) == nil)
    }

    @Test(
        "A control character in the user name or the password is refused",
        arguments: [("a\u{7}", "p"), ("a", "p\n")]
    )
    func controls(username: String, password: String) {
        #expect(throws: (any Error).self) {
            try answer(makeChallenge(""), .init(username: username, password: password))
        }
    }
}
