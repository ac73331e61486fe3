import TestSupport
import Testing

@testable import PipelineCaching

@Suite("Punycode", .watched)
struct PunycodeTests {
    @Test(
        "Labels are encoded with the parameters of RFC 3492, section 5",
        arguments: [
            // The samples of RFC 3492, section 7.1: (B), (D), (G), (L), (P), (R), (S).
            ("他们为什么不说中文", "ihqwcrb4cv8a8dqg056pqjye"),
            ("Pročprostěnemluvíčesky", "Proprostnemluvesky-uyb24dma41a"),
            ("なぜみんな日本語を話してくれないのか", "n8jok5ay5dzabd5bym9f0cm5685rrjetr6pdxa"),
            ("3年B組金八先生", "3B-ww4c5e180e575a65lsy2b"),
            ("MajiでKoiする5秒前", "MajiKoi5-783gue6qz075azm5e"),
            ("そのスピードで", "d9juau41awczczp"),
            ("-> $1.00 <-", "-> $1.00 <--"),
            // A repeated character, and one outside the Basic Multilingual Plane.
            ("üü", "tdaa"),
            ("😀a", "a-iv3s"),
        ]
    )
    func encoding(label: String, encoded: String) {
        #expect(Punycode.encode(Array(label.unicodeScalars)) == encoded)
    }

    @Test(
        "A host name is brought into lower-case ASCII form",
        arguments: [
            ("Example.COM", "example.com"),
            ("a_b-c.example", "a_b-c.example"),
            ("BÜCHER.example", "xn--bcher-kva.example"),
            ("bu\u{308}cher.example", "xn--bcher-kva.example"),
            ("XN--Bcher-KVA.example", "xn--bcher-kva.example"),
            ("www\u{3002}bücher\u{FF0E}example\u{FF61}com", "www.xn--bcher-kva.example.com"),
            ("a\u{3002}b", "a.b"),
            ("\u{212A}.example", "k.example"),
            ("example.com.", "example.com."),
            ("192.0.2.1", "192.0.2.1"),
            ("[2001:DB8::1]", "[2001:db8::1]"),
            ("[::FFFF:192.0.2.1]", "[::ffff:192.0.2.1]"),
        ]
    )
    func host(host: String, ascii: String) {
        #expect(Punycode.asciiHost(host) == ascii)
    }

    @Test(
        "A host name with an empty label or a forbidden character is rejected",
        arguments: [
            "", ".", "a..b", ".a", "a..", "\u{3002}a", "ü..b", "[", "[]", "[a]", "[::1", "[::1]a", "[fe80::1%25en0]",
            "[:::::::::::::::::::::::::::::::::::::::::::::::]",
            "a b", "a\0", "a\u{7F}", "a:80", "a/b", "a@b", "a%41", "a;b", "a,b", "a\"b", "a|b", "a\\b", "::1",
            "ü;", "a\u{37E}b", "ü\u{37E}b", "xn--ü",
        ]
    )
    func invalid(host: String) {
        #expect(Punycode.asciiHost(host) == nil)
    }

    @Test("A label has at most 63 bytes and a name at most 253 bytes after encoding (RFC 1035, section 2.3.4)")
    func lengths() {
        let label = String(repeating: "a", count: 63)
        #expect(Punycode.asciiHost(label) == label)
        #expect(Punycode.asciiHost("b.\(label)a") == nil)
        #expect(Punycode.asciiHost("\(label)a.b") == nil)
        // 55 letters, and 8 bytes for the prefix, the delimiter and ü.
        #expect(Punycode.asciiHost(String(repeating: "a", count: 55) + "ü")?.utf8.count == 63)
        #expect(Punycode.asciiHost(String(repeating: "a", count: 56) + "ü") == nil)
        #expect(Punycode.asciiHost(String(repeating: "ü", count: 10_000)) == nil)

        let name = "\(label).\(label).\(label).\(String(repeating: "b", count: 61))"
        #expect(Punycode.asciiHost(name) == name)
        #expect(Punycode.asciiHost(name + ".") == name + ".")
        #expect(Punycode.asciiHost(name + "b") == nil)
    }

    @Test(
        "A host is an IP address if it is in brackets or its last label is a number (URL standard)",
        arguments: [
            ("[::1]", true), ("192.0.2.1", true), ("192.0.2.1.", true), ("1", true), ("a.1", true), ("0x7f.0x1", true),
            ("0x", true), ("a.0xg", false), ("1.a", false), ("1a", false), ("example.com", false), ("x1.com", false),
        ]
    )
    func addresses(host: String, isAddress: Bool) {
        #expect(Punycode.isIPAddress(host) == isAddress)
    }
}
