import Pipeline
import TestSupport
import Testing

@testable import PipelineCore

@Suite("ServerSentEvent.ReconnectionPolicy", .watched)
struct ReconnectionPolicyTests {
    private func delays(
        _ policy: ServerSentEvent.ReconnectionPolicy,
        fruitless: Int,
        asked: Duration? = nil
    ) -> [Duration] {
        var random = PipelineRandom.seeded(7)
        return (0..<200).map { _ in
            policy.delay(afterFruitlessAttempts: fruitless, asked: asked, using: &random)
        }
    }

    @Test("After a stream with an event, the wait is exactly what the server requested, or 3 s by default")
    func steady() {
        #expect(Set(delays(.standard, fruitless: 0)) == [.seconds(3)])
        #expect(Set(delays(.standard, fruitless: 0, asked: .milliseconds(520))) == [.milliseconds(520)])
        #expect(Set(delays(.standard, fruitless: 0, asked: .seconds(600))) == [.seconds(600)])
        #expect(Set(delays(.standard, fruitless: 0, asked: .milliseconds(Int64.max))) == [.seconds(21_600)])
        #expect(
            Set(delays(ServerSentEvent.ReconnectionPolicy(reconnectionTime: .seconds(9)), fruitless: 0)) == [
                .seconds(9)
            ]
        )
    }

    @Test("S01 The wait is never shorter than the minimum, whatever the server or the policy requests")
    func floor() {
        for fruitless in [0, 1, 5] {
            #expect(delays(.standard, fruitless: fruitless, asked: .zero).allSatisfy { $0 >= .milliseconds(500) })
            let policy = ServerSentEvent.ReconnectionPolicy(
                reconnectionTime: .zero,
                minimumReconnectionTime: .seconds(2)
            )
            #expect(delays(policy, fruitless: fruitless).allSatisfy { $0 >= .seconds(2) })
        }
        #expect(Set(delays(.standard, fruitless: 0, asked: .zero)) == [.milliseconds(500)])
        let none = ServerSentEvent.ReconnectionPolicy(minimumReconnectionTime: .zero)
        #expect(Set(delays(none, fruitless: 0, asked: .zero)) == [.zero])
        #expect(
            Set(delays(ServerSentEvent.ReconnectionPolicy(minimumReconnectionTime: .seconds(90)), fruitless: 9)) == [
                .seconds(90)
            ]
        )
    }

    @Test(
        "After n attempts without an event, the wait is 1 to 2ⁿ times the reconnection time, at most 60 s",
        arguments: [(1, 6), (2, 12), (3, 24), (4, 48), (5, 60), (10, 60), (1_000_000, 60)]
    )
    func growth(_ fruitless: Int, _ bound: Int) {
        let delays = delays(.standard, fruitless: fruitless)
        #expect(delays.allSatisfy { (.seconds(3))...(.seconds(bound)) ~= $0 })
        // The waits use the whole range.
        let width = Double(bound - 3)
        #expect(delays.contains { $0 < .seconds(3 + width * 0.1) })
        #expect(delays.contains { $0 > .seconds(3 + width * 0.9) })
    }

    @Test("A reconnection time below a second grows up to 2ⁿ seconds, even from zero")
    func growthFromZero() {
        let policy = ServerSentEvent.ReconnectionPolicy(minimumReconnectionTime: .zero)
        let delays = delays(policy, fruitless: 3, asked: .zero)
        #expect(delays.allSatisfy { $0 <= .seconds(8) })
        #expect(delays.contains { $0 > .seconds(7) })
    }

    @Test("A wait requested by the server may exceed the maximum")
    func beyond() {
        #expect(Set(delays(.standard, fruitless: 4, asked: .seconds(90))) == [.seconds(90)])
        let policy = ServerSentEvent.ReconnectionPolicy(reconnectionTime: .seconds(1), maximumReconnectionTime: .zero)
        #expect(Set(delays(policy, fruitless: 4)) == [.seconds(1)])
    }

    @Test("Only network failures cause a reconnection")
    func failures() {
        let codes: [PipelineError.Code] = [
            .offline, .dns, .connect(.refused), .connect(.unreachable), .connectionLost, .timeout(.idle),
            .timeout(.connect),
            .truncated, .contentCoding(.truncated), .transport,
        ]
        for code in codes { #expect(ServerSentEvent.ReconnectionPolicy.isNetworkFailure(PipelineError(code, ""))) }
        let others: [PipelineError.Code] = [
            .cancelled, .plugin, .encoding, .unacceptableStatus, .bodyConsumed, .tls(.certificate), .malformedResponse,
            .contentCoding(.corrupt), .clientClosed, .invalidRequest(.headerValue), .limit(.lineBytes),
            .redirect(.loop),
            .mapping(.events),
        ]
        for code in others { #expect(!ServerSentEvent.ReconnectionPolicy.isNetworkFailure(PipelineError(code, ""))) }
    }
}
