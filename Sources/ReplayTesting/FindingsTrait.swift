#if canImport(Testing)
import PipelineCore
public import Testing

/// A trait that makes a test fail if a provider it makes has a leak or a fault in the order of its stack.
///
/// ```swift
/// @Suite("The client", .findings(.fail))
/// struct ClientTests {}
/// ```
///
/// It applies to each test of a suite, and replaces the policy of the providers' configurations; see
/// ``/Pipeline/ProviderConfiguration/FindingPolicy``. Providers that other tasks make, such as detached ones, are not
/// affected.
public struct FindingsTrait: TestTrait, SuiteTrait, TestScoping {
    /// What a finding does to a test.
    public struct Effect: Sendable, Hashable {
        private let name: String
        /// The test fails with the finding.
        public static let fail = Effect(name: "fail")
        /// Nothing; for a test of a wrong order.
        public static let ignore = Effect(name: "ignore")
    }

    let effect: Effect

    /// `true`: on a suite, the trait applies to each test.
    public var isRecursive: Bool { true }

    /// Runs a test with the policy.
    public func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        let policy = ProviderConfiguration.FindingPolicy.report { [effect] finding in
            if effect == .fail { Issue.record("\(finding)") }
        }
        try await ProviderConfiguration.FindingPolicy.$override.withValue(policy, operation: function)
    }
}

extension Trait where Self == FindingsTrait {
    /// Makes a test fail, or not, if a provider it makes has a leak or a fault in the order of its stack.
    public static func findings(_ effect: FindingsTrait.Effect) -> Self { FindingsTrait(effect: effect) }
}
#endif
