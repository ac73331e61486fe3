import HTTPTypes
import PipelinePlugins
import TestSupport
import Testing

@testable import PipelineCaching

@Suite("Vary", .watched)
struct VaryTests {
    @Test(
        "RFC 9110 §12.5.5: Vary lists names in any case, on any number of lines",
        arguments: [
            ("", ""), ("Vary: Foo", "foo"), ("Vary: Foo, bar", "bar foo"), ("Vary: Foo\nVary: bar", "bar foo"),
            ("Vary: foo, FOO", "foo"),
            ("Vary: ,, foo ,", "foo"), ("Vary:", ""),
        ]
    )
    func names(fields: String, expected: String) {
        #expect(CacheRules.varyNames(CacheSamples.headers(fields))?.joined(separator: " ") == expected)
    }

    @Test(
        "RFC 9111 §4.1: a response with * in Vary never matches",
        arguments: ["*", "*, *", "*\nVary: *", ", *", "\nVary: *", "*, Foo", "Foo, *", "Foo\nVary: *", "a b", "("]
    )
    func star(value: String) {
        #expect(CacheRules.varyNames(CacheSamples.headers("Vary: \(value)")) == nil)
    }

    @Test(
        "RFC 9111 §4.1: requests match if the fields that Vary lists have the same meaning",
        arguments: [
            ("foo", "Foo: 1", "Foo: 1", true), ("foo", "Foo: 1", "Foo: 2", false), ("foo", "", "Foo: 1", false),
            ("foo", "Foo: 1", "", false),
            ("foo", "", "", true), ("foo", "", "Foo:", false), ("foo", "Foo: 1\nOther: 2", "Foo: 1\nOther: 3", true),
            ("bar,foo", "Foo: 1\nBar: a", "Bar: a\nFoo: 1", true),
            ("bar,foo", "Foo: 1\nBar: a", "Foo: 1\nBar: b", false),
            ("bar,foo", "Foo: 1", "Bar: 1", false), ("bar,foo", "Bar: foo", "Bar:\nFoo:", false),
            ("foo", "Foo: 1, 2", "Foo: 1\nFoo: 2", true), ("foo", "Foo: 1,2", "Foo:  1, 2 ", false),
            ("foo", "Foo: 1, 2", "Foo: 2, 1", false),
            ("foo", "Foo: a", "Foo: A", false), ("foo", "Foo: \"a, b\"", "Foo: \"a,b\"", false),
            ("foo", "Foo: 1,,2", "Foo: 1,2", false), ("foo", "Foo: 1, 2", "Foo:  1, 2 ", true),
            ("accept-language", "Accept-Language: en, de", "Accept-Language: de, en", false),
            ("accept-language", "Accept-Language: en, de", "Accept-Language: eN, De", true),
            ("accept-language", "Accept-Language: en, de", "Accept-Language:  en ,   de", true),
            ("accept-language", "Accept-Language: en, de", "Accept-Language: en, fr", false),
            ("accept-language", "Accept-Language: en, de;q=0.5", "Accept-Language: en;q=1.0, de; Q=0.5", true),
            ("accept-language", "Accept-Language: en, de;q=0.5", "Accept-Language: en;q=0.5, de", false),
            ("accept-encoding", "Accept-Encoding: gzip, br", "Accept-Encoding: BR,gzip", true),
            ("accept-encoding", "Accept-Encoding: gzip", "Accept-Encoding: gzip;q=0", false),
            ("accept-charset", "Accept-Charset: utf-8, iso-8859-1", "Accept-Charset: ISO-8859-1,UTF-8", true),
            ("accept", "Accept: text/html, */*;q=0.1", "Accept: TEXT/html;q=1\nAccept: */*; Q=0.1", true),
            ("accept", "Accept: text/html, */*", "Accept: */*, text/html", false),
            ("accept", "Accept: a/b;profile=A", "Accept: a/b;profile=a", false),
            ("accept", "Accept: a/b;profile=\"http://x/A\"", "Accept: a/b;profile=\"http://x/a\"", false),
            ("accept", "Accept: a/b;profile=\"c, d\"", "Accept: a/b;profile=\"c,d\"", false),
            ("accept", "Accept: a/b;profile=\"c;q=1\"", "Accept: a/b;profile=\"c\"", false),
            ("cookie", "Cookie: a=1; b=2", "Cookie: a=1\nCookie: b=2", true),
            ("cookie", "Cookie: a=1,2", "Cookie: a=1, 2", false),
            ("user-agent", "User-Agent: a (b, c)", "User-Agent: a (b,c)", false),
            ("authorization", "Authorization: A b", "Authorization: a b", false),
        ]
    )
    func selection(names: String, first: String, second: String, isEqual: Bool) {
        let names = names.split(separator: ",").map(String.init)
        let texts = [first, second].map { CacheRules.selectingText(names, of: CacheSamples.request($0)) }
        #expect((texts[0] == texts[1]) == isEqual)
    }
}
