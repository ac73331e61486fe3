import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("SimulatedServer.Timing", .watched)
struct SimulatedTimingTests {
    /// Returns how long 10,000 requests were worked on, in ascending order.
    private func serviceTimes(_ timing: SimulatedServer.Timing) async -> [Duration] {
        let clock = ManualClock()
        let server = SimulatedServer(on: clock, workers: 10_000, serviceTime: timing)
        let provider = Provider<URLTarget>(
            transport: server,
            configuration: ProviderConfiguration(clock: clock, random: .seeded(1))
        )
        await clock.run {
            await withTaskGroup(of: Void.self) { group in
                for _ in 0..<10_000 {
                    group.addTask { _ = try? await provider.request(URLTarget("https://a.test/")) }
                }
            }
        }
        return server.completions
    }

    private func mean(_ times: [Duration]) -> Double {
        times.reduce(Duration.zero, +) / .milliseconds(times.count)
    }

    @Test("A constant time is always the same")
    func constant() async {
        let times = await serviceTimes(.constant(.milliseconds(7)))
        #expect(Set(times) == [.milliseconds(7)])
    }

    @Test("Uniform times fill their range evenly")
    func uniform() async {
        let times = await serviceTimes(.uniform(.milliseconds(10) ... .milliseconds(30)))
        #expect(times.count == 10_000)
        #expect(times[0] >= .milliseconds(10) && times[0] < .milliseconds(10.1))
        #expect(times[9_999] <= .milliseconds(30) && times[9_999] > .milliseconds(29.9))
        for quarter in 1...3 {
            let expected = 10 + 5 * Double(quarter)
            let time: Double = times[2_500 * quarter] / .milliseconds(1)
            #expect(abs(time - expected) < 0.5)
        }
    }

    @Test("Exponential times have the mean and the median of their distribution")
    func exponential() async {
        let times = await serviceTimes(.exponential(mean: .milliseconds(20)))
        #expect(abs(mean(times) - 20) < 0.8)
        #expect(abs(times[5_000] / .milliseconds(20) - 0.693) < 0.03)
        #expect(times[9_990] > .milliseconds(100))
    }

    @Test("The share of slow cases takes longer by the delay, and the others do not")
    func slow() async {
        let times = await serviceTimes(.uniform(.milliseconds(1) ... .milliseconds(2)).slow(0.01, by: .seconds(1)))
        let slow = times.filter { $0 >= .seconds(1) }
        #expect((70...130).contains(slow.count))
        #expect(slow.allSatisfy { $0 >= .milliseconds(1_001) && $0 <= .milliseconds(1_002) })
        #expect(times.prefix(10_000 - slow.count).allSatisfy { $0 <= .milliseconds(2) })
    }
}
