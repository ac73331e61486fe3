import HTTPTypes
import PipelinePlugins
import TestSupport
import Testing

@testable import PipelineCaching

@Suite("CacheControl", .watched)
struct CacheControlTests {
    /// Returns the directives in a fixed order, in the form in which they are written.
    static func text(_ control: CacheControl) -> String {
        var parts: [String] = []
        func flag(_ name: String, _ value: Bool) { if value { parts.append(name) } }
        func number(_ name: String, _ value: Int?) {
            if let value { parts.append("\(name)=\(value == .max ? "any" : String(value))") }
        }
        func scope(_ name: String, _ value: CacheControl.FieldScope?) {
            switch value {
            case .all: parts.append(name)
            case .fields(let names): parts.append("\(name)=\(names.map(\.canonicalName).joined(separator: "+"))")
            case nil: break
            }
        }
        flag("no-store", control.noStore)
        scope("no-cache", control.noCache)
        scope("private", control.isPrivate)
        flag("public", control.isPublic)
        flag("must-revalidate", control.mustRevalidate)
        flag("proxy-revalidate", control.proxyRevalidate)
        flag("must-understand", control.mustUnderstand)
        flag("immutable", control.immutable)
        flag("no-transform", control.noTransform)
        flag("only-if-cached", control.onlyIfCached)
        number("max-age", control.maxAge)
        number("s-maxage", control.sharedMaxAge)
        number("swr", control.staleWhileRevalidate)
        number("sie", control.staleIfError)
        number("min-fresh", control.minFresh)
        number("max-stale", control.maxStale)
        return parts.joined(separator: " ")
    }

    @Test(
        "RFC 9111 §5.2: directives are read in any case, and unknown ones are ignored",
        arguments: [
            ("", ""), (",", ""), (" , ,", ""), ("foo", ""), ("foo=1, bar=\"a, b\"", ""), ("=1", ""), ("=", ""),
            ("max-age=60", "max-age=60"), ("MaX-aGe=60", "max-age=60"), ("foo, max-age=60", "max-age=60"),
            ("max-age=60,no-store", "no-store max-age=60"), ("\tNo-StOrE ,", "no-store"),
            ("no-cache", "no-cache"), ("private", "private"), ("public", "public"),
            ("must-revalidate, proxy-revalidate", "must-revalidate proxy-revalidate"),
            ("must-understand, immutable", "must-understand immutable"),
            ("no-transform, only-if-cached", "no-transform only-if-cached"),
            ("s-maxage=1", "s-maxage=1"), ("stale-while-revalidate=1, stale-if-error=2", "swr=1 sie=2"),
            ("min-fresh=3, max-stale=4", "min-fresh=3 max-stale=4"), ("max-stale", "max-stale=any"),
            ("no-storee", ""), ("no-stor", ""), ("a-name-that-is-longer-than-every-known-directive", ""),
        ]
    )
    func directives(field: String, expected: String) {
        #expect(Self.text(CacheControl([field])) == expected)
    }

    @Test(
        "RFC 9111 §1.2.2: seconds are digits, and at most 2^31",
        arguments: [
            ("max-age=0", "max-age=0"), ("max-age=003600", "max-age=3600"), ("max-age=\"3600\"", "max-age=3600"),
            ("max-age=2147483647", "max-age=2147483647"), ("max-age=2147483648", "max-age=2147483648"),
            ("max-age=2147483649", "max-age=2147483648"), ("max-age=99999999999", "max-age=2147483648"),
            ("max-age=99999999999999999999999999", "max-age=2147483648"),
        ]
    )
    func seconds(field: String, expected: String) {
        #expect(Self.text(CacheControl([field])) == expected)
    }

    @Test(
        "RFC 9111 §4.2.1: an invalid lifetime is zero, and other invalid durations permit nothing",
        arguments: [
            ("max-age", "max-age=0"), ("max-age=", "max-age=0"), ("max-age=-60", "max-age=0"),
            ("max-age=+60", "max-age=0"), ("max-age='60'", "max-age=0"), ("max-age=60.0", "max-age=0"),
            ("max-age=a60", "max-age=0"), ("max-age=60a", "max-age=0"), ("max-age =60", "max-age=0"),
            ("max-age= 60", "max-age=0"), ("max-age=6 0", "max-age=0"), ("max-age=\"60\"x", "max-age=0"),
            ("max-age=\"60", "max-age=0"), ("s-maxage=x", "s-maxage=0"),
            ("stale-while-revalidate", "swr=0"), ("stale-if-error=x", "sie=0"),
            ("min-fresh=x", ""), ("max-stale=x", ""), ("max-stale=", ""),
        ]
    )
    func invalidSeconds(field: String, expected: String) {
        #expect(Self.text(CacheControl([field])) == expected)
    }

    @Test(
        "RFC 9111 §4.2.1: of conflicting directives, the most restrictive one counts",
        arguments: [
            (["max-age=60, max-age=60"], "max-age=60"), (["max-age=60, max-age=1"], "max-age=0"),
            (["max-age=1", "max-age=60"], "max-age=0"), (["s-maxage=5", "max-age=1"], "max-age=1 s-maxage=5"),
            (["stale-if-error=9, stale-if-error=5"], "sie=5"),
            (["stale-while-revalidate=5", "stale-while-revalidate=9"], "swr=5"),
            (["min-fresh=5, min-fresh=9"], "min-fresh=9"), (["max-stale, max-stale=9"], "max-stale=9"),
            (["no-cache=\"a\", no-cache"], "no-cache"), (["no-cache, no-cache=\"a\""], "no-cache"),
            (["public, private"], "private public"),
        ]
    )
    func conflicts(lines: [String], expected: String) {
        #expect(Self.text(CacheControl(lines)) == expected)
    }

    @Test(
        "RFC 9111 §5.2.2.4: no-cache and private may list fields",
        arguments: [
            ("no-cache=\"a\"", "no-cache=a"), ("no-cache=\"A, b\"", "no-cache=a+b"),
            ("private=\"a,,b\"", "private=a+b"),
            ("no-cache=a", "no-cache=a"), ("no-cache=\"\"", "no-cache"), ("no-cache=\",\"", "no-cache"),
            ("private=\"a b\"", "private"), ("no-cache=\"a\", no-cache=\"b\"", "no-cache=a+b"),
            ("private=\"a", "private"), ("no-cache=\"a\\b\"", "no-cache=ab"),
        ]
    )
    func fieldNames(field: String, expected: String) {
        #expect(Self.text(CacheControl([field])) == expected)
    }

    @Test(
        "RFC 9110 §5.6.4: a quoted string hides directives, but a quotation mark that is not closed does not",
        arguments: [
            ("foo=\"max-age=60\", max-age=1", "max-age=1"), ("max-age=1, foo=\"max-age=60\"", "max-age=1"),
            ("foo=\"a, no-store\"", ""), ("foo=\"a\\\", no-store\"", ""), ("foo=\"a, no-store", "no-store"),
            ("foo=\"a\\", ""), ("foo=\"\", no-store", "no-store"),
        ]
    )
    func quotes(field: String, expected: String) {
        #expect(Self.text(CacheControl([field])) == expected)
    }

    @Test(
        "RFC 9111 §5.2.3: directives that restrict apply with any argument, those that permit only without one",
        arguments: [
            ("no-store=1", "no-store"), ("must-revalidate=\"x\"", "must-revalidate"), ("public=1", ""),
            ("immutable=1", ""), ("must-understand=1", ""), ("only-if-cached=1", "only-if-cached"),
        ]
    )
    func arguments(field: String, expected: String) {
        #expect(Self.text(CacheControl([field])) == expected)
    }
}
