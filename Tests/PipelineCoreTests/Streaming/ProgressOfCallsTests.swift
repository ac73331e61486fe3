import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("Progress of decoded calls and of several transfers", .watched)
struct ProgressOfCallsTests {
    private static func transport(_ body: String, _ status: Int = 200) -> ScriptedTransport {
        let pieces = AsyncStream { continuation in
            for byte in body.utf8 { continuation.yield(Data([byte])) }
            continuation.finish()
        }
        return ScriptedTransport([.status(status, body: .stream(pieces, byteCount: body.utf8.count))])
    }

    @Test("A decoded call tells its progress, and the last step comes once the value is decoded")
    func decoded() async throws {
        let steps = Journal()
        let provider = Provider<MultiTarget>(transport: Self.transport("[1,2]"))
        let value = try await provider.request(TestTarget(), as: [Int].self) { step in
            steps.add("\(step.progress) \(step.completed)")
        }
        #expect(value == [1, 2])
        #expect(steps.entries.last == "1.0 true")
        #expect(steps.entries.dropLast().allSatisfy { $0.hasSuffix("false") })
    }

    @Test("A call whose body does not decode has no last step", arguments: [200, 500])
    func failed(status: Int) async throws {
        let steps = Journal()
        let provider = Provider<TestTarget>(transport: Self.transport("{}", status))
        let error = await pipelineError {
            var target = TestTarget()
            target.validationType = .automatic
            _ = try await provider.request(target, as: [Int].self) { steps.add("\($0.completed)") }
        }
        #expect(error?.code == (status == 200 ? .mapping(.object) : .unacceptableStatus))
        #expect(!steps.entries.contains("true"))
    }

    @MainActor
    @Test("A closure that is isolated to an actor runs on it")
    func isolated() async throws {
        var last = 0.0
        let provider = Provider<TestTarget>(transport: Self.transport("[1,2]"))
        _ = try await provider.request(TestTarget(), as: [Int].self) { step in
            MainActor.preconditionIsolated()
            last = step.progress
        }
        #expect(last == 1)
    }

    @Test("A meter adds transfers; its total is known once each of them is, and steps replace earlier ones")
    func meter() {
        let meter = ProgressResponse.Meter(count: 2)
        func step(_ progress: Double, _ byteCount: Int, of total: Int?, _ speed: Double?) -> ProgressResponse {
            ProgressResponse(
                progress: progress,
                received: .init(byteCount: byteCount, totalByteCount: total),
                bytesPerSecond: speed
            )
        }
        var all = meter.update(step(0.5, 50, of: 100, 10), of: "a")
        #expect(all.progress == 0.25)
        #expect(all.received == .init(byteCount: 50, totalByteCount: nil))
        #expect(all.bytesPerSecond == 10)
        #expect(all.timeLeft == nil)
        all = meter.update(step(0.25, 50, of: 200, 40), of: "b")
        #expect(all.progress == 0.375)
        #expect(all.transfer == .init(byteCount: 100, totalByteCount: 300))
        #expect(all.bytesPerSecond == 50)
        #expect(all.timeLeft == .seconds(4))
        all = meter.update(step(1, 100, of: 100, 99), of: "a")
        // A transfer that has ended no longer adds to the speed.
        #expect(all.bytesPerSecond == 40)
        #expect(all.progress == 0.625)
        #expect(!all.completed)
        all = meter.update(step(1, 200, of: 200, 40), of: "b")
        #expect(all.progress == 1)
        #expect(all.timeLeft == nil)
    }
}
