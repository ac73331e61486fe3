import Pipeline
import TestSupport
import Testing

@Suite("RetryPlugin: invalid settings trap", .watched)
struct RetryConfigurationTests {
    private static func text(_ result: ExitTest.Result?) -> String {
        String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
    }

    @Test("maximumAttempts must be at least 1")
    func attempts() async {
        let plugin = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = RetryPlugin(maximumAttempts: 0)
        }
        #expect(Self.text(plugin).contains("maximumAttempts is 0, not 1 or more"))
        let option = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = RetryPlugin.Override(maximumAttempts: -3)
        }
        #expect(Self.text(option).contains("maximumAttempts is -3, not 1 or more"))
    }

    @Test("A policy rejects statuses outside 100...999 and a maximumRetryAfter outside 0 to 6 hours")
    func policy() async {
        let statuses = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = RetryPolicy(statusCodes: [503, 99, 1_000])
        }
        #expect(Self.text(statuses).contains("statusCodes holds [99, 1000], not in 100...999"))
        let long = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = RetryPolicy(maximumRetryAfter: .seconds(21_601))
        }
        #expect(Self.text(long).contains(" seconds, not between 0 and 6 hours"))
        #expect(Self.text(long).contains("maximumRetryAfter is 21601.0"))
        let negative = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = RetryPolicy(maximumRetryAfter: .seconds(-1))
        }
        #expect(Self.text(negative).contains("maximumRetryAfter is -1.0 seconds"))
    }

    @Test("A backoff rejects a base, factor, cap, jitter or delay out of range")
    func backoff() async {
        let base = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = RetryPolicy.Backoff.exponential(base: .zero)
        }
        #expect(Self.text(base).contains("base is 0.0 seconds, not more than zero"))
        let factor = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = RetryPolicy.Backoff.exponential(factor: 0.5)
        }
        #expect(Self.text(factor).contains("factor is 0.5, not 1 or more"))
        let cap = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = RetryPolicy.Backoff.exponential(base: .seconds(2), cap: .seconds(1))
        }
        #expect(Self.text(cap).contains("cap is 1.0 seconds, less than the base of 2.0 seconds"))
        let jitter = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = RetryPolicy.Backoff.exponential(jitter: .nan)
        }
        #expect(Self.text(jitter).contains("jitter is nan, not in 0...1"))
        let constant = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = RetryPolicy.Backoff.constant(.seconds(-1))
        }
        #expect(Self.text(constant).contains("the delay is -1.0 seconds, not 0 or more"))
    }

    @Test("A budget rejects a ratio, rate or window out of range")
    func budget() async {
        let ratio = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = RetryBudget(ratio: -0.1)
        }
        #expect(Self.text(ratio).contains("ratio is -0.1, not in 0...1,000"))
        let rate = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = RetryBudget(minimumPerSecond: .infinity)
        }
        #expect(Self.text(rate).contains("minimumPerSecond is inf, not in 0...1,000,000"))
        let window = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = RetryBudget(window: .milliseconds(999))
        }
        #expect(Self.text(window).contains("window is 0.999 seconds, not between a second and an hour"))
    }

    @Test("Values on the limits are accepted")
    func bounds() {
        _ = RetryPlugin(maximumAttempts: 1)
        _ = RetryPolicy(statusCodes: [100, 999], maximumRetryAfter: .seconds(21_600))
        _ = RetryPolicy(statusCodes: [], methods: [], maximumRetryAfter: .zero)
        _ = RetryPolicy.Backoff.exponential(base: .seconds(1), factor: 1, cap: .seconds(1), jitter: 0)
        _ = RetryBudget(ratio: 1_000, minimumPerSecond: 1_000_000, window: .seconds(3_600))
        _ = RetryBudget(ratio: 0, minimumPerSecond: 0, window: .seconds(1))
    }
}
