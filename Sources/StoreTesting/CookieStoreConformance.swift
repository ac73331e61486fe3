import Foundation
public import PipelineCaching
public import PipelineTesting

/// A conformance suite that checks the rules for every cookie store.
///
/// ```swift
/// @Test("MyCookieStore does what every cookie store has to do", .timeLimit(.minutes(1)))
/// func conformance() async {
///     let violations = await CookieStoreConformance { MyCookieStore() }.run()
///     #expect(violations.isEmpty, "\(violations)")
/// }
/// ```
///
/// | check | rule |
/// |---|---|
/// | `empty` | the jar of an unknown account has no cookies, also if another account has some |
/// | `fields` | all public properties of a cookie are read back as they were written |
/// | `session` | a cookie without an expiry can be read from the store that has got it |
/// | `accounts` | a change affects one account only; the empty string is an account like others |
/// | `order` | cookies keep their order, and a replaced cookie keeps its place |
/// | `concurrency` | 100 concurrent updates lose nothing |
/// | `remove` | the jar of a removed account is empty, and can be used again |
/// | `removeUnknown` | to remove an unknown account is harmless |
/// | `cancellation` | an update in a cancelled task that returns has been made, and the store stays usable |
///
/// **Effects**: each check gets a new store. A store that blocks forever blocks the suite.
public struct CookieStoreConformance: Sendable {
    private typealias Check = @Sendable (any CookieStore) async throws -> [String]

    private let makeStore: @Sendable () async throws -> any CookieStore

    /// Creates a suite for a store.
    ///
    /// - Parameter makeStore: returns a new store without cookies for each check.
    public init(makeStore: @escaping @Sendable () async throws -> any CookieStore) {
        self.makeStore = makeStore
    }

    /// Runs all checks, one after another.
    ///
    /// - Returns: the violations; empty for a store that conforms. An error that the store or `makeStore` throws is a
    ///   violation.
    public func run() async -> [ConformanceViolation] {
        let checks: [(name: String, run: Check)] = [
            ("empty", Self.empty), ("fields", Self.fields), ("session", Self.session), ("accounts", Self.accounts),
            ("order", Self.order), ("concurrency", Self.concurrency), ("remove", Self.remove),
            ("removeUnknown", Self.removeUnknown),
            ("cancellation", Self.cancellation),
        ]
        return await ConformanceViolation.found(by: checks, makeStore)
    }

    private static let date = Date(timeIntervalSince1970: 1_700_000_000.123_456)

    /// Returns a cookie that a store must keep even if it discards cookies of the session.
    private static func cookie(_ name: String, _ value: String = "1") -> CookieJar.Cookie {
        CookieJar.Cookie(name, value, domain: "a.test", expiry: date + 86_400, created: date)
    }

    private static func names(_ store: any CookieStore, _ account: String) async throws -> [String] {
        try await store.jar(account: account).cookies.map(\.name)
    }

    /// Returns a violation if the names of an account's cookies are not the expected ones.
    private static func require(
        _ expected: [String],
        in store: any CookieStore,
        _ account: String,
        _ when: String
    ) async throws -> [String] {
        let found = try await names(store, account)
        return found == expected ? [] : ["\(when), account \"\(account)\" has the cookies \(found), not \(expected)"]
    }

    // MARK: Checks

    private static let empty: Check = { store in
        let first = try await require([], in: store, "a", "in a new store")
        try await store.update(account: "b") { $0.insert([cookie("x")]) }
        return try await first + require([], in: store, "a", "after a change of another account")
    }

    private static let fields: Check = { store in
        var written: [CookieJar.Cookie] = []
        for (index, sameSite) in [CookieJar.Cookie.SameSite.strict, .lax, .unrestricted, nil].enumerated() {
            var cookie = CookieJar.Cookie(
                "name\(index)",
                #""v=\/é""#,
                domain: "b\(index).test",
                isHostOnly: index % 2 == 0,
                path: "/p/\(index)",
                expiry: date + 86_400.5,
                isSecure: index % 2 == 1,
                isHTTPOnly: index < 2,
                sameSite: sameSite,
                created: date + Double(index)
            )
            cookie.lastAccessed = date + 60.25
            written.append(cookie)
        }
        written.append(CookieJar.Cookie("", "", domain: "::1", expiry: .distantFuture, created: .distantPast))
        let cookies = written
        try await store.update(account: "a") { $0.insert(cookies) }
        let read = try await store.jar(account: "a").cookies
        guard read.count == written.count else { return ["of \(written.count) cookies, \(read.count) were read back"] }
        return zip(written, read).flatMap { written, read in
            properties.filter { !$0.isSame(written, read) }.map { "the property \($0.name) was not read back" }
        }
    }

    private static let session: Check = { store in
        var session = cookie("s")
        session.expiry = nil
        let cookies = [cookie("x"), session]
        try await store.update(account: "a") { $0.insert(cookies) }
        return try await require(["x", "s"], in: store, "a", "after a change with a cookie without an expiry")
    }

    private static let properties: [(name: String, isSame: @Sendable (CookieJar.Cookie, CookieJar.Cookie) -> Bool)] = [
        ("name", { $0.name == $1.name }),
        ("value", { $0.value == $1.value }),
        ("domain", { $0.domain == $1.domain }),
        ("isHostOnly", { $0.isHostOnly == $1.isHostOnly }),
        ("path", { $0.path == $1.path }),
        ("expiry", { $0.expiry == $1.expiry }),
        ("isSecure", { $0.isSecure == $1.isSecure }),
        ("isHTTPOnly", { $0.isHTTPOnly == $1.isHTTPOnly }),
        ("sameSite", { $0.sameSite == $1.sameSite }),
        ("created", { $0.created == $1.created }),
        ("lastAccessed", { $0.lastAccessed == $1.lastAccessed }),
    ]

    private static let accounts: Check = { store in
        for account in ["", "a", "A", "a/../b"] {
            try await store.update(account: account) { $0.insert([cookie("of-\(account)")]) }
        }
        try await store.update(account: "a") { $0.insert([cookie("second")]) }
        var found: [String] = []
        for account in ["", "A", "a/../b"] {
            found += try await require(["of-\(account)"], in: store, account, "after changes of other accounts")
        }
        return try await found + require(["of-a", "second"], in: store, "a", "after two changes")
    }

    private static let order: Check = { store in
        let names = ["m", "z", "a", "k", "b"]
        for name in names { try await store.update(account: "a") { $0.insert([cookie(name)]) } }
        let first = try await require(names, in: store, "a", "after five changes")
        try await store.update(account: "a") { $0.insert([cookie("a", "2"), cookie("c")]) }
        return try await first + require(names + ["c"], in: store, "a", "after a cookie was replaced and one added")
    }

    private static let concurrency: Check = { store in
        let expected = (0..<100).map { "c\($0)" }
        _ = try await concurrently(100) { index in
            try await store.update(account: "a") { jar in
                // Takes some time, in which a store without a lock would begin other changes.
                jar.insert((0..<50).map { cookie("temporary\($0)") })
                jar.removeAll { $0.name.hasPrefix("temporary") }
                jar.insert([cookie(expected[index])])
            }
        }
        let lost = try await Set(expected).subtracting(names(store, "a")).count
        return lost == 0 ? [] : ["of 100 concurrent updates, \(lost) were lost"]
    }

    private static let remove: Check = { store in
        for account in ["a", "b"] { try await store.update(account: account) { $0.insert([cookie("x")]) } }
        try await store.remove(account: "a")
        var found = try await require([], in: store, "a", "after it was removed")
        found += try await require(["x"], in: store, "b", "after another account was removed")
        try await store.update(account: "a") { $0.insert([cookie("y")]) }
        found += try await require(["y"], in: store, "a", "after it was removed and changed")
        try await store.remove(account: nil)
        found += try await require([], in: store, "a", "after all accounts were removed")
        return try await found + require([], in: store, "b", "after all accounts were removed")
    }

    private static let removeUnknown: Check = { store in
        try await store.remove(account: "a")
        try await store.update(account: "b") { $0.insert([cookie("x")]) }
        try await store.remove(account: "a")
        return try await require(["x"], in: store, "b", "after an unknown account was removed")
    }

    private static let cancellation: Check = { store in
        try await store.update(account: "a") { $0.insert([cookie("before")]) }
        let made = await inCancelledTasks(20) { index in
            let name = "cancelled\(index)"
            try await store.update(account: "a") { $0.insert([cookie(name)]) }
            return name
        }
        try await store.update(account: "a") { $0.insert([cookie("after")]) }
        let lost = try await Set(made + ["before", "after"]).subtracting(names(store, "a"))
        return lost.isEmpty ? [] : ["after updates in cancelled tasks, these cookies are missing: \(lost.sorted())"]
    }
}
