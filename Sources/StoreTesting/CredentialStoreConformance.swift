import Foundation
public import PipelineAuth
public import PipelineTesting

/// A conformance suite that checks the rules for every credential store.
///
/// ```swift
/// @Test("MyCredentialStore does what every credential store has to do", .timeLimit(.minutes(1)))
/// func conformance() async {
///     let violations = await CredentialStoreConformance { MyCredentialStore() }.run()
///     #expect(violations.isEmpty, "\(violations)")
/// }
/// ```
///
/// | check | rule |
/// |---|---|
/// | `roundTrip` | a credential is returned as it was saved, also without bytes and with all byte values |
/// | `replacement` | a later credential replaces the one before |
/// | `removal` | a removed credential is gone; removing it again does nothing |
/// | `keys` | keys are compared character by character, and may have spaces, slashes and characters beyond ASCII |
/// | `concurrency` | 50 concurrent changes of different keys all remain |
/// | `secrets` | no description shows a credential |
///
/// **Effects**: each check gets a new store. A store that blocks forever blocks the suite.
public struct CredentialStoreConformance: Sendable {
    private typealias Check = @Sendable (any CredentialStore) async throws -> [String]

    private let makeStore: @Sendable () async throws -> any CredentialStore

    /// Creates a suite for a store.
    ///
    /// - Parameter makeStore: returns a new store without credentials for each check.
    public init(makeStore: @escaping @Sendable () async throws -> any CredentialStore) {
        self.makeStore = makeStore
    }

    /// Runs all checks, one after another.
    ///
    /// - Returns: the violations; empty for a store that conforms. An error that the store or `makeStore` throws is a
    ///   violation.
    public func run() async -> [ConformanceViolation] {
        let checks: [(name: String, run: Check)] = [
            ("roundTrip", Self.roundTrip), ("replacement", Self.replacement), ("removal", Self.removal),
            ("keys", Self.keys), ("concurrency", Self.concurrency), ("secrets", Self.secrets),
        ]
        return await ConformanceViolation.found(by: checks, makeStore)
    }

    /// Returns a violation if the credential under a key differs.
    private static func require(
        _ expected: Data?,
        _ key: String,
        _ store: any CredentialStore
    ) async throws -> [String] {
        let found = try await store.load(key)
        guard found != expected else { return [] }
        func text(_ data: Data?) -> String { data.map { "\($0.count) bytes" } ?? "nothing" }
        return ["under \(key.debugDescription) is not what was saved: \(text(found)), not \(text(expected))"]
    }

    // MARK: Checks

    private static let roundTrip: Check = { store in
        var found = try await require(nil, "a", store)
        for credential in [Data("token".utf8), Data(), Data((0...255).map { UInt8($0) }), Data(count: 10_000)] {
            try await store.save(credential, for: "a")
            found += try await require(credential, "a", store)
        }
        return found
    }

    private static let replacement: Check = { store in
        try await store.save(Data("a long credential".utf8), for: "a")
        try await store.save(Data("short".utf8), for: "a")
        return try await require(Data("short".utf8), "a", store)
    }

    private static let removal: Check = { store in
        try await store.remove("a")
        try await store.save(Data("1".utf8), for: "a")
        try await store.save(Data("2".utf8), for: "b")
        for _ in 0..<2 { try await store.remove("a") }
        return try await require(nil, "a", store) + require(Data("2".utf8), "b", store)
    }

    private static let keys: Check = { store in
        let keys = ["", "a", "A", "a ", "https://auth.example/a b", "../a", "日本", String(repeating: "k", count: 200)]
        for (index, key) in keys.enumerated() { try await store.save(Data([UInt8(index)]), for: key) }
        var found: [String] = []
        for (index, key) in keys.enumerated() { found += try await require(Data([UInt8(index)]), key, store) }
        return found
    }

    private static let concurrency: Check = { store in
        _ = try await concurrently(50) { index in try await store.save(Data([UInt8(index)]), for: "\(index)") }
        var found: [String] = []
        for index in 0..<50 { found += try await require(Data([UInt8(index)]), "\(index)", store) }
        return found
    }

    private static let secrets: Check = { store in
        let secret = "credential-that-no-text-shows"
        try await store.save(Data(secret.utf8), for: "a")
        var texts = "\(store) \(String(reflecting: store))"
        dump(store, to: &texts)
        let isShown = texts.contains(secret) || texts.contains(Data(secret.utf8).base64EncodedString())
        return isShown ? ["a description shows a credential"] : []
    }
}
