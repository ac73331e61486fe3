import Dispatch
import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("PipelineRandom", .tags(.concurrent), .watched)
struct PipelineRandomTests {
    @Test("Rule 18: random numbers come from the provider's generator, so a seed reproduces them")
    func randomness() async throws {
        func draw(seed: UInt64) async throws -> [String] {
            let drawn = Journal()
            let provider = Provider<TestTarget>(
                transport: ScriptedTransport(always: .status(200)),
                plugins: [
                    .prepare { _, context in
                        var random = context.random
                        drawn.add("\(Int.random(in: 0..<1_000_000, using: &random))")
                    }
                ],
                configuration: .init(random: .seeded(seed))
            )
            for _ in 0..<3 { _ = try await provider.request(TestTarget()) }
            return drawn.entries
        }
        let first = try await draw(seed: 7)
        #expect(Set(first).count == 3)
        #expect(try await draw(seed: 7) == first)
        #expect(try await draw(seed: 8) != first)
    }
}
