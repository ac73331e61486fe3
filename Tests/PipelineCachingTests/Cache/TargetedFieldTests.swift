import HTTPTypes
import PipelinePlugins
import TestSupport
import Testing

@testable import PipelineCaching

@Suite("Targeted fields of a cache", .watched)
struct TargetedFieldTests {
    @Test(
        "RFC 9213 §2.1: a targeted field is a dictionary of directives",
        arguments: [
            ("max-age=60", "max-age=60"), ("foo, max-age=60", "max-age=60"), ("max-age=60;a=b;c", "max-age=60"),
            ("max-age=99999999999", "max-age=2147483648"), ("max-age=1, max-age=60", "max-age=60"),
            ("no-store", "no-store"), ("no-store=?1", "no-store"), ("no-store=?0, max-age=1", "max-age=1"),
            ("private", "private"), ("no-cache=\"a, b\"", "no-cache=a+b"), ("  max-age=1  ", "max-age=1"),
            ("max-age=1\t,\t no-store", "no-store max-age=1"), ("foo=(a \"b\" 1;x), no-store", "no-store"),
            ("foo=:YQ==:, no-store", "no-store"), ("foo=@5, no-store", "no-store"), ("foo=*a/b, no-store", "no-store"),
            ("foo=%\"a\", no-store", "no-store"), ("foo=1.5, no-store", "no-store"), ("*x, no-store", "no-store"),
            ("foo=\"\\\"\\\\\", no-store", "no-store"), ("foo=(), no-store", "no-store"),
            ("max-age=60, \(String(repeating: "a", count: 1_012))", "max-age=60"),
        ]
    )
    func valid(field: String, expected: String) {
        #expect(CacheControl(targeted: [field]).map(CacheControlTests.text) == expected)
    }

    @Test(
        "RFC 9213 §2.1: a value of the wrong type permits nothing",
        arguments: [
            ("max-age=\"60\"", "max-age=0"), ("max-age=6.5", "max-age=0"), ("max-age=-1", "max-age=0"),
            ("max-age=a", "max-age=0"), ("max-age", "max-age=0"), ("public=1", ""), ("private=a", "private"),
        ]
    )
    func wrongType(field: String, expected: String) {
        #expect(CacheControl(targeted: [field]).map(CacheControlTests.text) == expected)
    }

    @Test(
        "RFC 9213 §2.1: an empty field, one that is not a dictionary, or one of more than 1 KiB is ignored",
        arguments: [
            "", "   ", "max-age=10, &&&", "MaX-aGe=60", "max-age =60", "max-age= 60", "max-age=60,", ",max-age=60",
            "max-age=60 no-store", "no-cache=\"a", "a=(b", "a=(b\"c\")", "a=?2", "a=:!:", "a=:YQ", "a=1.", "a=1.2345",
            "a=1234567890123456", "a=1234567890123.1", "a=@", "a=%x", "a=\"\\x\"", "a=\"\u{e9}\"", "a=;b", "a;=1",
            "1=a", "a=-", "max-age=60, \(String(repeating: "a", count: 1_013))",
        ]
    )
    func invalid(field: String) {
        #expect(CacheControl(targeted: [field]) == nil)
    }

    @Test(
        "RFC 9213 §2.2: the first valid targeted field replaces Cache-Control",
        arguments: [
            ("Cache-Control: max-age=1", "max-age=1"),
            ("Cache-Control: no-store\nCDN-Cache-Control: max-age=60", "max-age=60"),
            ("CDN-Cache-Control: max-age=60\nTest-Cache-Control: max-age=2", "max-age=2"),
            ("CDN-Cache-Control: max-age=60\nTest-Cache-Control: &", "max-age=60"),
            ("CDN-Cache-Control: &\nCache-Control: no-store", "no-store"),
            ("CDN-Cache-Control:\nCache-Control: no-store", "no-store"),
            ("CDN-Cache-Control: max-age=60\nCDN-Cache-Control: private", "private max-age=60"),
            ("Surrogate-Control: max-age=60\nCache-Control: max-age=1", "max-age=1"),
        ]
    )
    func selection(fields: String, expected: String) {
        let control = CacheSamples.targeted.control(of: CacheSamples.headers(fields))
        #expect(CacheControlTests.text(control) == expected)
    }

    @Test("RFC 9213 §2: a targeted field has no effect without a rule for it")
    func withoutRule() {
        let headers = CacheSamples.headers("CDN-Cache-Control: max-age=60\nCache-Control: max-age=1")
        #expect(CacheRules.shared.control(of: headers).maxAge == 1)
    }
}
