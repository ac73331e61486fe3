import Testing

@testable import Pipeline

@Suite("ReconnectionPolicy")
struct ReconnectionPolicyTests {
    private func delays(
        _ policy: ReconnectionPolicy,
        failed: Int,
        isEmpty: Bool = false,
        asked: Duration? = nil
    ) -> [Duration] {
        var random = PipelineRandom.seeded(7)
        return (0..<200).map { _ in
            policy.delay(afterFailedAttempts: failed, isEmpty: isEmpty, asked: asked, using: &random)
        }
    }

    @Test("After a stream that had begun the wait is exactly what the server said, else 3 s")
    func steady() {
        #expect(Set(delays(.standard, failed: 0)) == [.seconds(3)])
        #expect(Set(delays(.standard, failed: 0, asked: .milliseconds(20))) == [.milliseconds(20)])
        #expect(Set(delays(.standard, failed: 0, asked: .zero)) == [.zero])
        #expect(Set(delays(.standard, failed: 0, asked: .seconds(600))) == [.seconds(600)])
        #expect(Set(delays(.standard, failed: 0, asked: .milliseconds(Int64.max))) == [.seconds(21_600)])
        #expect(Set(delays(ReconnectionPolicy(reconnectionTime: .seconds(9)), failed: 0)) == [.seconds(9)])
    }

    @Test("When nothing came of an attempt the wait is 1 s at least")
    func empty() {
        #expect(Set(delays(.standard, failed: 0, isEmpty: true, asked: .zero)) == [.seconds(1)])
        #expect(Set(delays(.standard, failed: 0, isEmpty: true, asked: .seconds(2))) == [.seconds(2)])
        #expect(delays(.standard, failed: 1, isEmpty: true, asked: .zero).allSatisfy { $0 >= .seconds(1) })
    }

    @Test(
        "After n failures it is between the reconnection time and 2ⁿ times that, and no more than 60 s",
        arguments: [(1, 6), (2, 12), (3, 24), (4, 48), (5, 60), (10, 60), (1_000_000, 60)]
    )
    func growth(_ failed: Int, _ bound: Int) {
        let delays = delays(.standard, failed: failed)
        #expect(delays.allSatisfy { (.seconds(3))...(.seconds(bound)) ~= $0 })
        // The whole range is used.
        let width = Double(bound - 3)
        #expect(delays.contains { $0 < .seconds(3 + width * 0.1) })
        #expect(delays.contains { $0 > .seconds(3 + width * 0.9) })
    }

    @Test("What the server asks for is waited even beyond the bound")
    func beyond() {
        #expect(Set(delays(.standard, failed: 4, asked: .seconds(90))) == [.seconds(90)])
        let policy = ReconnectionPolicy(reconnectionTime: .seconds(1), maximumReconnectionTime: .zero)
        #expect(Set(delays(policy, failed: 4)) == [.seconds(1)])
    }

    @Test("Failures of the network are reconnected after, and no others")
    func failures() {
        let codes: [PipelineError.Code] = [
            .offline, .dns, .connect(.refused), .connect(.unreachable), .connectionLost, .timeout(.idle),
            .timeout(.connect),
            .truncated, .contentCoding(.truncated), .transport,
        ]
        for code in codes { #expect(ReconnectionPolicy.isNetworkFailure(PipelineError(code, ""))) }
        let others: [PipelineError.Code] = [
            .cancelled, .plugin, .encoding, .unacceptableStatus, .bodyConsumed, .tls(.certificate), .malformedResponse,
            .contentCoding(.corrupt), .clientClosed, .invalidRequest(.headerValue), .limit(.lineBytes),
            .redirect(.loop),
            .mapping(.events),
        ]
        for code in others { #expect(!ReconnectionPolicy.isNetworkFailure(PipelineError(code, ""))) }
    }
}
