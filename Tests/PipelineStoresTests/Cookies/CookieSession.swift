import Foundation
import HTTPTypes
import Testing

@testable import PipelineCaching

/// A jar with rules and a clock, driven by URLs.
struct CookieSession {
    var jar = CookieJar()
    var rules = CookieRules(publicSuffixes: PublicSuffixList("test\nco.test"))
    var now = Date(timeIntervalSince1970: 1_800_000_000)

    /// The names of the cookies, in the order of the jar.
    var names: [String] { jar.cookies.map(\.name) }

    /// The only cookie of the jar.
    var onlyCookie: CookieJar.Cookie {
        get throws {
            try #require(jar.cookies.count == 1)
            return jar.cookies[0]
        }
    }

    /// Stores the cookie of a Set-Cookie field of a response.
    @discardableResult
    mutating func receive(
        _ field: String,
        from url: String = "https://shop.test/",
        first: String? = nil
    ) throws -> CookieJar.Refusal? {
        let request = try Self.request(url, first: first)
        do throws(CookieJar.Refusal) {
            try jar.accept(SetCookieField(field), from: request, rules: rules, at: now)
            return nil
        } catch {
            return error
        }
    }

    /// Stores the cookies of a response without Set-Cookie fields.
    mutating func respond(to url: String = "https://shop.test/") throws {
        jar.store([], from: try Self.request(url), rules: rules, at: now)
    }

    /// Returns the value of the Cookie field of a request, and marks its cookies as used.
    mutating func sent(
        to url: String = "https://shop.test/",
        method: HTTPRequest.Method = .get,
        first: String? = nil
    ) throws -> String? {
        let request = try Self.request(url, method: method, first: first)
        let sent = jar.cookies(for: request, rules: rules, at: now)
        jar.markUsed(by: request, rules: rules, at: now)
        return sent.fieldValue
    }

    static func request(
        _ url: String,
        method: HTTPRequest.Method = .get,
        first: String? = nil
    ) throws -> CookieJar.Request {
        let slashes = try #require(url.range(of: "://"))
        let rest = url[slashes.upperBound...]
        let path = rest.firstIndex(of: "/") ?? rest.endIndex
        return try #require(
            CookieJar.Request(
                scheme: String(url[..<slashes.lowerBound]),
                authority: String(rest[..<path]),
                path: String(rest[path...]),
                method: method,
                firstAuthority: first
            )
        )
    }
}
