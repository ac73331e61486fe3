import Foundation
import TestSupport
import Testing

@testable import PipelineCaching

@Suite("PublicSuffixList", .watched)
struct PublicSuffixListTests {
    private let list = PublicSuffixList(
        """
        // ===BEGIN ICANN DOMAINS===

        com
        uk \t text after white space
        co.uk
        *.zone
        !city.zone
        // *.deep and !open.x.deep: an exception below a longer rule
        deep
        *.deep
        part.open.x.deep
        !open.x.deep
        公司.test
        xn--p1ai
        // ===BEGIN PRIVATE DOMAINS===
        pages.com
        *.cloud.com\r
        """
    )

    @Test(
        "The public suffix and the registrable domain follow the longest rule, or an exception (publicsuffix.org)",
        arguments: [
            // One rule, and a longer one.
            ("com", "com", nil),
            ("example.com", "com", "example.com"),
            ("a.b.example.com", "com", "example.com"),
            ("example.uk", "uk", "example.uk"),
            ("co.uk", "co.uk", nil),
            ("a.example.co.uk", "co.uk", "example.co.uk"),
            ("notco.uk", "uk", "notco.uk"),
            // The implicit rule *.
            ("local", "local", nil),
            ("a.host.local", "local", "host.local"),
            // A wildcard, which does not match its parent, and an exception.
            ("zone", "zone", nil),
            ("x.zone", "x.zone", nil),
            ("a.b.x.zone", "x.zone", "b.x.zone"),
            ("city.zone", "zone", "city.zone"),
            ("a.b.city.zone", "zone", "city.zone"),
            ("x.deep", "x.deep", nil),
            ("a.part.open.x.deep", "x.deep", "open.x.deep"),
            // Unicode labels, in both forms.
            ("公司.test", "xn--55qx5d.test", nil),
            ("www.食狮.公司.test", "xn--55qx5d.test", "xn--85x722f.xn--55qx5d.test"),
            ("xn--85x722f.xn--55qx5d.test", "xn--55qx5d.test", "xn--85x722f.xn--55qx5d.test"),
            ("пример.рф", "xn--p1ai", "xn--e1afmkfd.xn--p1ai"),
            // The private section.
            ("pages.com", "pages.com", nil),
            ("me.pages.com", "pages.com", "me.pages.com"),
            ("cloud.com", "com", "cloud.com"),
            ("a.me.eu.cloud.com", "eu.cloud.com", "me.eu.cloud.com"),
            // Case, and a dot at the end.
            ("WWW.Example.CO.UK", "co.uk", "example.co.uk"),
            ("www.ПРИМЕР.РФ", "xn--p1ai", "xn--e1afmkfd.xn--p1ai"),
            ("XN--E1AFMKFD.XN--P1AI", "xn--p1ai", "xn--e1afmkfd.xn--p1ai"),
            ("www.example.com.", "com.", "example.com."),
            ("com.", "com.", nil),
        ] as [(String, String, String?)]
    )
    func domains(host: String, suffix: String, domain: String?) {
        #expect(list.suffix(of: host) == suffix)
        #expect(list.registrableDomain(of: host) == domain)
    }

    @Test(
        "An IP address, an empty label, or a character that is not allowed in a host has no public suffix",
        arguments: [
            "", ".", "..", ".com", ".example.com", "example..com", "example.com..",
            "192.0.2.1", "192.0.2.1.", "127.1", "0x7f.0.0.1", "127.0.0.0x1", "[2001:db8::1]", "2001:db8::1",
            "example.com:80", "a b.com", "a/b.com", "user@example.com",
        ]
    )
    func noSuffix(host: String) {
        #expect(list.suffix(of: host) == nil)
        #expect(list.registrableDomain(of: host) == nil)
    }

    @Test(
        "A line that is not a rule is skipped",
        arguments: ["", "// com", " com", ".com", "com.", "a..com", "*", "*.", "!", "!com", "a.*.com", "!*.com", "a:b"]
    )
    func notARule(line: String) {
        #expect(PublicSuffixList(line).ruleCount == 0)
    }

    @Test("Lines may end with a carriage return, a line feed, or both", arguments: ["\n", "\r\n", "\r"])
    func lineEnds(end: String) {
        let list = PublicSuffixList(["co.uk", "// a", "*.zone", "!city.zone"].joined(separator: end))
        #expect(list.suffix(of: "a.co.uk") == "co.uk")
        #expect(list.suffix(of: "a.b.zone") == "b.zone")
        #expect(list.suffix(of: "city.zone") == "zone")
    }

    // MARK: Files

    @Test("The first file that contains a list within the limit is read")
    func files() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "suffixes-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        func file(_ name: String, _ contents: [UInt8]) throws -> String {
            let file = folder.appending(path: name)
            try Data(contents).write(to: file)
            return file.path
        }
        let unusable = [
            folder.appending(path: "missing").path,
            folder.path,
            try file("empty", []),
            try file("comments", Array("// no rule\n".utf8)),
            try file("invalid", Array("a.test\n".utf8) + [0xFF]),
            try file("large", Array("b.test\n// 34 bytes are over the limit\n".utf8)),
        ]
        let usable = try file("usable", Array("c.test\n// 32 bytes are at the limit".utf8.prefix(32)))
        let other = try file("other", Array("d.test".utf8))

        #expect(PublicSuffixList(firstOf: unusable, maximumByteCount: 32) == nil)
        let list = try #require(PublicSuffixList(firstOf: unusable + [usable, other], maximumByteCount: 32))
        #expect(list.registrableDomain(of: "c.test") == nil)
        #expect(["a.test", "b.test", "d.test"].allSatisfy { list.registrableDomain(of: $0) == $0 })
    }

    @Test("The list of the system has the rule com", .enabled(if: PublicSuffixList.system != nil))
    func system() throws {
        let list = try #require(PublicSuffixList.system)
        #expect(list.registrableDomain(of: "www.example.com") == "example.com")
        #expect(list.ruleCount > 1_000)
    }
}
