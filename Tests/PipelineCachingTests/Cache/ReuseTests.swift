import Foundation
import HTTPTypes
import PipelinePlugins
import TestSupport
import Testing

@testable import PipelineCaching

@Suite("Reuse of stored responses", .watched)
struct ReuseTests {
    private static func outcome(
        _ response: String,
        age: Double,
        _ request: String = "",
        _ policy: CachePolicy = .standard,
        _ rules: CacheRules = .private
    ) -> String {
        let entry = CacheSamples.entry(response)
        switch rules.reuse(entry, for: CacheSamples.request(request), policy: policy, at: CacheSamples.now + age) {
        case .fresh: return "fresh"
        case .staleWhileRevalidating: return "background"
        case .stale: return "stale"
        case .validate(_, let limit): return limit.map { "validate, on error \($0)" } ?? "validate"
        case .unusable(let reason): return reason
        }
    }

    @Test(
        "RFC 9111 §4: a fresh response is reused, a stale one or one with no-cache is validated",
        arguments: [
            ("private", "max-age=10", 5.0, "fresh"), ("private", "max-age=10", 10, "validate"),
            ("private", "max-age=0", 0, "validate"),
            ("private", "max-age=10, no-cache", 0, "validate"), ("private", "max-age=10, no-cache=\"a\"", 0, "fresh"),
            ("private", "max-age=10, must-revalidate", 5, "fresh"),
            ("private", "max-age=10, must-revalidate", 15, "validate"),
            ("private", "private, max-age=10", 5, "fresh"), ("shared", "private, max-age=10", 5, "private"),
            ("private", "", 0, "validate"),
        ]
    )
    func response(rules: String, control: String, age: Double, expected: String) {
        #expect(
            Self.outcome("Cache-Control: \(control)", age: age, "", .standard, CacheSamples.rules(rules)) == expected
        )
    }

    @Test(
        "RFC 9111 §5.2.1: the directives of the request restrict or extend the reuse",
        arguments: [
            ("max-age=100", 5.0, "max-age=0", "validate"), ("max-age=100", 0, "max-age=0", "validate"),
            ("max-age=100", 5, "max-age=5", "fresh"),
            ("max-age=100", 6, "max-age=5", "validate"), ("max-age=100", 5, "max-age=x", "validate"),
            ("max-age=100", 90, "min-fresh=10", "fresh"),
            ("max-age=100", 91, "min-fresh=10", "validate"), ("max-age=10", 15, "max-stale=5", "stale"),
            ("max-age=10", 16, "max-stale=5", "validate"),
            ("max-age=10", 9e5, "max-stale", "stale"), ("max-age=10", 15, "max-stale=5, max-age=5", "validate"),
            ("max-age=10", 15, "max-stale, min-fresh=5", "validate"),
            ("max-age=10, must-revalidate", 15, "max-stale", "validate"),
            ("max-age=10, proxy-revalidate", 15, "max-stale", "stale"),
            ("max-age=10, no-cache", 15, "max-stale", "validate"),
            ("max-age=100", 0, "no-cache", "validate"), ("max-age=100", 0, "no-store", "no-store of the request"),
            ("max-age=100", 5, "only-if-cached", "fresh"), ("max-age=10", 15, "only-if-cached", "only-if-cached"),
            ("max-age=10", 15, "only-if-cached, max-stale", "stale"),
            ("max-age=10, stale-while-revalidate=60", 15, "only-if-cached", "stale"),
            ("max-age=100, immutable", 5, "no-cache", "validate"),
        ]
    )
    func request(control: String, age: Double, request: String, expected: String) {
        #expect(Self.outcome("Cache-Control: \(control)", age: age, "Cache-Control: \(request)") == expected)
    }

    @Test(
        "RFC 9111 §5.4: Pragma: no-cache in a request counts only without Cache-Control",
        arguments: [
            ("Pragma: no-cache", "validate"), ("Pragma: foo", "fresh"), ("Pragma: foo, No-Cache", "validate"),
            ("Pragma: no-cache\nCache-Control: max-age=50", "fresh"),
        ]
    )
    func pragma(request: String, expected: String) {
        #expect(Self.outcome("Cache-Control: max-age=100", age: 5, request) == expected)
    }

    @Test("RFC 9111 §5.4: Pragma in a response has no meaning")
    func pragmaOfResponse() {
        #expect(Self.outcome("Cache-Control: max-age=100\nPragma: no-cache", age: 5) == "fresh")
    }

    @Test(
        "RFC 9111 §5.2.2.10: s-maxage and proxy-revalidate forbid a shared cache to reuse a stale response",
        arguments: [
            ("s-maxage=10", "max-stale", "validate"), ("max-age=10, proxy-revalidate", "max-stale", "validate"),
            ("max-age=10", "max-stale", "stale"), ("s-maxage=10, stale-while-revalidate=60", "foo", "background"),
            ("max-age=10, proxy-revalidate, stale-while-revalidate=60", "foo", "validate"),
            ("s-maxage=10, stale-if-error=60", "foo", "validate, on error 60"),
            ("s-maxage=10", "stale-if-error=60", "validate"),
            ("max-age=10, proxy-revalidate", "stale-if-error=60", "validate"),
            ("s-maxage=10, stale-if-error=60", "stale-if-error=600", "validate, on error 60"),
            ("s-maxage=10, stale-if-error=60", "stale-if-error=5", "validate, on error 5"),
            ("max-age=10", "stale-if-error=60", "validate, on error 60"),
        ]
    )
    func shared(control: String, request: String, expected: String) {
        #expect(
            Self.outcome("Cache-Control: \(control)", age: 15, "Cache-Control: \(request)", .standard, .shared)
                == expected
        )
    }

    @Test(
        "RFC 5861 §3: stale-while-revalidate permits a stale response until its window ends",
        arguments: [
            ("max-age=1, stale-while-revalidate=4", 0.0, "", "fresh"),
            ("max-age=1, stale-while-revalidate=4", 3, "", "background"),
            ("max-age=1, stale-while-revalidate=4", 5, "", "validate"),
            ("max-age=1, stale-while-revalidate=0", 1, "", "validate"),
            ("max-age=1, stale-while-revalidate=4, must-revalidate", 3, "", "validate"),
            ("max-age=1, stale-while-revalidate=4, no-cache", 3, "", "validate"),
            ("max-age=1, stale-while-revalidate=4", 3, "max-age=0", "validate"),
            ("max-age=1, stale-while-revalidate=4", 3, "max-age=2", "validate"),
            ("max-age=1, stale-while-revalidate=4", 3, "min-fresh=1", "validate"),
            ("max-age=1, stale-while-revalidate=x", 3, "", "validate"),
        ]
    )
    func staleWhileRevalidate(control: String, age: Double, request: String, expected: String) {
        let request = request.isEmpty ? "" : "Cache-Control: \(request)"
        #expect(Self.outcome("Cache-Control: \(control)", age: age, request) == expected)
    }

    @Test(
        "RFC 5861 §4: stale-if-error of the request or the response limits the reuse after an error",
        arguments: [
            ("max-age=1, stale-if-error=60", "foo", "validate, on error 60"),
            ("max-age=1", "stale-if-error=60", "validate, on error 60"),
            ("max-age=1, stale-if-error=60", "stale-if-error=5", "validate, on error 5"),
            ("max-age=1, stale-if-error=60", "stale-if-error=0", "validate"),
            ("max-age=1, stale-if-error=60, must-revalidate", "foo", "validate"),
            ("max-age=1, stale-if-error=60, no-cache", "foo", "validate"),
            ("max-age=1, stale-if-error=60", "no-cache", "validate"),
            ("max-age=1, must-revalidate", "stale-if-error=60", "validate"),
            ("max-age=1, no-cache", "stale-if-error=60", "validate"),
            ("max-age=90, stale-if-error=60", "max-age=0", "validate, on error 60"),
            ("max-age=1, stale-if-error=60, proxy-revalidate", "foo", "validate, on error 60"),
        ]
    )
    func staleIfError(control: String, request: String, expected: String) {
        #expect(Self.outcome("Cache-Control: \(control)", age: 3, "Cache-Control: \(request)") == expected)
    }

    @Test(
        "The policy of a call decides how a stored response is used",
        arguments: [
            (CachePolicy.reload, "max-age=10", 5.0, "policy reload"), (.noStore, "max-age=10", 5, "policy noStore"),
            (.revalidate, "max-age=10", 5, "validate"), (.revalidate, "max-age=10, stale-if-error=5", 5, "validate"),
            (.onlyIfCached, "max-age=10", 5, "fresh"), (.onlyIfCached, "max-age=10", 15, "only-if-cached"),
            (.onlyIfCached, "max-age=10, stale-while-revalidate=60", 15, "stale"),
            (.onlyIfCached, "max-age=10, no-cache", 5, "only-if-cached"),
            (.offline, "max-age=10", 5, "fresh"), (.offline, "max-age=10", 9e6, "stale"),
            (.offline, "max-age=10, must-revalidate", 5, "fresh"),
            (.offline, "max-age=10, must-revalidate", 15, "only-if-cached"),
            (.offline, "max-age=10, no-cache", 5, "only-if-cached"),
        ]
    )
    func policy(policy: CachePolicy, control: String, age: Double, expected: String) {
        #expect(Self.outcome("Cache-Control: \(control)", age: age, "", policy) == expected)
    }

    @Test(
        "RFC 8246 §2: a fresh immutable response is not revalidated, a stale one is",
        arguments: [
            (CachePolicy.revalidate, 5.0, "fresh"), (.revalidate, 15, "validate"), (.standard, 15, "validate"),
            (.reload, 5, "policy reload"),
        ]
    )
    func immutable(policy: CachePolicy, age: Double, expected: String) {
        #expect(Self.outcome("Cache-Control: max-age=10, immutable", age: age, "", policy) == expected)
    }

    @Test(
        "RFC 9110 §13.1.1: only the origin evaluates If-Match and If-Unmodified-Since",
        arguments: [
            ("If-Match: \"a\"", "If-Match"), ("If-Unmodified-Since: @0", "If-Unmodified-Since"),
            ("If-None-Match: \"a\"", "fresh"),
        ]
    )
    func preconditions(request: String, expected: String) {
        #expect(Self.outcome("Cache-Control: max-age=100\nETag: \"a\"", age: 5, request) == expected)
    }
}
