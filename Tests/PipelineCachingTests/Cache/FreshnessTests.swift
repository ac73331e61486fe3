import Foundation
import HTTPTypes
import PipelinePlugins
import TestSupport
import Testing

@testable import PipelineCaching

@Suite("Freshness of stored responses", .watched)
struct FreshnessTests {
    @Test(
        "RFC 9111 §4.2.1: the freshness lifetime comes from s-maxage, max-age or Expires, in this order",
        arguments: [
            ("private", "Cache-Control: max-age=60", 60), ("private", "Cache-Control: s-maxage=60", 0),
            ("private", "Cache-Control: s-maxage=60, max-age=1", 1),
            ("shared", "Cache-Control: s-maxage=60, max-age=1", 60),
            ("shared", "Cache-Control: max-age=60\nCache-Control: s-maxage=1", 1), ("private", "", 0),
            ("private", "Expires: @60\nDate: @0", 60), ("private", "Expires: @60", 60),
            ("private", "Expires: @10\nDate: foo", 10), ("private", "Expires: @300\nDate: @400", 0),
            ("private", "Expires: @0\nDate: @0", 0), ("private", "Expires: @-60\nDate: @0", 0),
            ("private", "Expires: 0\nDate: @0", 0), ("private", "Expires: 0\nLast-Modified: @-100", 0),
            ("private", "Expires: @60\nExpires: @60", 60), ("private", "Expires: @60\nExpires: @70", 0),
            ("private", "Expires: @20\nDate: @10", 10), ("private", "Cache-Control: max-age=60\nExpires: @-5", 60),
            ("private", "Cache-Control: max-age=60\nExpires: 0", 60),
            ("private", "Cache-Control: max-age=0\nExpires: @60", 0),
            ("shared", "Cache-Control: max-age=0, s-maxage=60\nExpires: @-10", 60),
            ("private", "Expires: Sun, 21 Nov 2286 04:46:39 GMT\nDate: @0", 1 << 31),
            ("private", "Cache-Control: max-age=x\nExpires: @60", 0),
            ("targeted", "CDN-Cache-Control: max-age=60\nExpires: @-5", 60),
            ("targeted", "CDN-Cache-Control: foo\nExpires: @60", 0),
            ("targeted", "CDN-Cache-Control: max-age=0\nExpires: @60", 0), ("targeted", "Expires: @60", 60),
        ]
    )
    func lifetime(rules: String, fields: String, expected: Int) {
        let freshness = CacheSamples.rules(rules).freshness(of: CacheSamples.entry(fields), at: CacheSamples.now)
        #expect(freshness.lifetime == expected)
        #expect(!freshness.isHeuristic)
    }

    @Test(
        "RFC 9111 §4.2.3: the age is the larger of Age with the delay and the time since Date, and grows",
        arguments: [
            ("", 0.0, 0.0, 0), ("", 0, 5, 5), ("Age: 30", 0, 5, 35), ("Age: 30", 2, 5, 37), ("Date: @-20", 2, 5, 25),
            ("Date: @-20\nAge: 30", 2, 0, 32), ("Date: @100", 0, 5, 5), ("Date: foo", 0, 5, 5), ("", 2, 0, 2),
            ("", 0, -100, 0), ("Age: 30", 0, -100, 30), ("", -5, 0, 0), ("", 0.7, 0.7, 1),
        ]
    )
    func age(fields: String, delay: Double, later: Double, expected: Int) {
        let entry = CacheSamples.entry(fields, delay: delay)
        #expect(CacheRules.private.freshness(of: entry, at: CacheSamples.now + later).age == expected)
    }

    @Test(
        "RFC 9111 §5.1: the first value of Age counts, and an invalid one is ignored",
        arguments: [
            ("Age: 7200", 7_200), ("Age: abc", 0), ("Age: -7200", 0), ("Age: 7200.0", 0), ("Age: 7200;a=1", 0),
            ("Age: 7200, 0", 7_200), ("Age: 0, 7200", 0), ("Age: 7200\nAge: 0", 7_200), ("Age: 0\nAge: 7200", 0),
            ("Age: 2147483647", 2_147_483_647), ("Age: 2147483648", 1 << 31), ("Age: 99999999999999999999", 1 << 31),
            ("Age: 5 , 6", 5), ("Age:", 0), ("Age: +5", 0),
        ]
    )
    func ageField(fields: String, expected: Int) {
        let freshness = CacheRules.private.freshness(of: CacheSamples.entry(fields), at: CacheSamples.now)
        #expect(freshness.age == expected)
    }

    @Test(
        "RFC 9111 §4.2.2: without an explicit lifetime, a tenth of the time since Last-Modified applies",
        arguments: [
            (200, "Last-Modified: @-1000", 100), (200, "Last-Modified: @-1000\nDate: @-500", 50),
            (200, "Last-Modified: @5", 0),
            (200, "Last-Modified: @-86400000", 86_400), (200, "Last-Modified: foo", 0),
            (599, "Last-Modified: @-1000", 0),
            (599, "Last-Modified: @-1000\nCache-Control: public", 100), (404, "Last-Modified: @-1000", 100),
            (200, "Last-Modified: @-1000\nCache-Control: max-age=5", 5),
        ]
    )
    func heuristic(status: Int, fields: String, expected: Int) {
        let entry = CacheSamples.entry(fields, status: status)
        #expect(CacheRules.private.freshness(of: entry, at: CacheSamples.now).lifetime == expected)
    }

    @Test(
        "RFC 9111 §4.2.2: the fraction and the longest lifetime are settings, and are clamped",
        arguments: [
            (0.5, 86_400, 500), (0, 86_400, 0), (2, 86_400, 1_000), (-1, 86_400, 0), (.nan, 86_400, 0), (0.5, 7, 7),
            (0.5, -7, 0),
        ]
    )
    func heuristicSettings(fraction: Double, maximum: Int, expected: Int) {
        let rules = CacheRules(heuristicFraction: fraction, maximumHeuristicLifetime: .seconds(maximum))
        let freshness = rules.freshness(of: CacheSamples.entry("Last-Modified: @-1000"), at: CacheSamples.now)
        #expect(freshness.lifetime == expected)
        #expect(freshness.isHeuristic)
    }

    @Test(
        "RFC 9110 §15.1: some status codes are heuristically cacheable",
        arguments: [
            (200, true), (201, false), (202, false), (203, true), (204, true), (206, true), (300, true), (301, true),
            (302, false),
            (303, false), (307, false), (308, true), (403, false), (404, true), (405, true), (410, true), (414, true),
            (500, false),
            (501, true), (502, false), (503, false), (504, false), (599, false),
        ]
    )
    func heuristicStatus(status: Int, expected: Bool) {
        #expect(CacheRules.isHeuristicallyCacheable(status) == expected)
    }

    @Test("RFC 9111 §4.2: a response is fresh while its age is less than its lifetime")
    func boundary() {
        let entry = CacheSamples.entry("Cache-Control: max-age=10")
        let before = CacheRules.private.freshness(of: entry, at: CacheSamples.now + 9.9)
        let after = CacheRules.private.freshness(of: entry, at: CacheSamples.now + 10)
        #expect(before.isFresh && before.staleness == 0)
        #expect(!after.isFresh && after.staleness == 0)
        #expect(CacheRules.private.freshness(of: entry, at: CacheSamples.now + 15).staleness == 5)
    }
}
