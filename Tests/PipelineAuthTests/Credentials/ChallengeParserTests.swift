import Foundation
import HTTPTypes
import PipelineAuth
import PipelinePlugins
import TestSupport
import Testing

@Suite("ChallengeParser", .realTime, .watched)
struct ChallengeParserTests {
    @Test(
        "A field is parsed according to its grammar",
        arguments: [
            ("Basic", ["Basic - {}"]),
            (#"Basic realm="simple""#, ["Basic - {realm=simple}"]),
            (#"bAsIc ReAlM = "a""#, ["bAsIc - {realm=a}"]),
            ("Basic realm=token", ["Basic - {realm=token}"]),
            (#"Basic realm="a, b=\"c\" \\ d""#, [#"Basic - {realm=a, b="c" \ d}"#]),
            (#"Basic realm="""#, ["Basic - {realm=}"]),
            ("Negotiate", ["Negotiate - {}"]),
            ("Negotiate dG9rZW4=", ["Negotiate dG9rZW4= {}"]),
            ("Negotiate a-._~+/==, NTLM", ["Negotiate a-._~+/== {}", "NTLM - {}"]),
            ("Negotiate realm=", ["Negotiate realm= {}"]),
            ("Negotiate token , Basic realm=x", ["Negotiate token {}", "Basic - {realm=x}"]),
            (
                #"Newauth realm="apps", type=1, title="Login to \"apps\"", Basic realm="simple""#,
                [#"Newauth - {realm=apps title=Login to "apps" type=1}"#, "Basic - {realm=simple}"]
            ),
            (",, , Basic realm=a ,, x=y,", ["Basic - {realm=a x=y}"]),
            ("Basic , realm=a", ["Basic - {realm=a}"]),
            ("Basic, Digest nonce=a", ["Basic - {}", "Digest - {nonce=a}"]),
            (
                #"Digest realm="a", qop="auth,auth-int", Digest realm=a, algorithm=SHA-256"#,
                ["Digest - {qop=auth,auth-int realm=a}", "Digest - {algorithm=SHA-256 realm=a}"]
            ),
            ("Basic realm=\"Z\u{fc}rich\"", ["Basic - {realm=Z\u{fc}rich}"]),
            ("", []), (" \t,", []),
        ]
    )
    func grammar(value: String, challenges: [String]) {
        #expect(AuthenticationChallengeTests.read(value) == challenges)
    }

    @Test(
        "A malformed challenge is skipped, up to where it ends",
        arguments: [
            (#"realm="orphan", Basic realm=b"#, ["Basic - {realm=b}"]),
            (#"Digest realm="open"#, []),
            (#"Digest realm="a\"#, []),
            (#"Digest nonce=a, realm="open, Basic realm=b"#, []),
            ("Digest realm=a, realm=b, nonce=c, Basic realm=b", ["Basic - {realm=b}"]),
            ("Digest realm=a, REALM=b", []),
            ("Digest realm=a b, nonce=c, Basic realm=b", ["Basic - {realm=b}"]),
            (#"Digest realm="a"b, Basic realm=b"#, ["Basic - {realm=b}"]),
            ("Digest realm=a, =b, Basic realm=b", ["Basic - {realm=b}"]),
            ("Digest realm=a, nonce=, Basic realm=b", ["Basic - {realm=b}"]),
            ("Basic Digest realm=a", []),
            ("Negotiate dG9r===a, Basic", ["Basic - {}"]),
            ("Negotiate token, realm=a, Basic", ["Basic - {}"]),
            (#"@, "a, b", Basic realm=b"#, ["Basic - {realm=b}"]),
            // The beginning of another challenge ends one, even if it is malformed.
            (
                #"Digest realm="d", nonce="n", qop="auth", Basic realm=My Site, x=y"#,
                ["Digest - {nonce=n qop=auth realm=d}"]
            ),
            (#"Basic realm="x", Foo bar baz, NTLM"#, ["Basic - {realm=x}", "NTLM - {}"]),
            (#"Basic realm="x", Foo "bar""#, ["Basic - {realm=x}"]), ("Negotiate a=, Foo (x)", ["Negotiate a= {}"]),
            ("Basic realm=x, a = b c", []), ("Basic realm=x, a =", []),
            (#"@ "a, Basic, Bearer, x b", Negotiate"#, ["Negotiate - {}"]),
            (#"Basic"x""#, []), ("Basic(x)", []), ("ü", []),
        ]
    )
    func broken(value: String, challenges: [String]) {
        #expect(AuthenticationChallengeTests.read(value) == challenges)
    }

    @Test(
        "Parsing takes time linear in the length of the field",
        arguments: ["\"", "\\", ",", "a ", "a=", "=", " ", "a=\"\\\"", "\"\u{1}", "a b ", "a=b,"]
    )
    func linear(piece: String) {
        let isLinear = isLinear(4_000) { count in
            _ = AuthenticationChallengeTests.read("Digest realm=" + String(repeating: piece, count: count))
        }
        #expect(isLinear)
    }
}
