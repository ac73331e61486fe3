import Dispatch
import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("Progress, callbacks and targets", .tags(.concurrent), .watched)
struct ProviderProgressTests {
    @Test(
        "B-M37 Progress callbacks run on their queue, in order, and never after the completion",
        arguments: [true, false]
    )
    func callback(_ hasQueue: Bool) async throws {
        let feed = Feed()
        let transport = ScriptedTransport([.status(200, body: .stream(feed, byteCount: 30))])
        let key = DispatchSpecificKey<Int>()
        let queue = DispatchQueue(label: "callbacks")
        queue.setSpecific(key: key, value: 1)
        let journal = Journal()
        feed.send(10)
        let result = await withCheckedContinuation { continuation in
            RequestProgressTests.provider(transport).request(
                TestTarget(),
                callbackExecutor: hasQueue ? .queue(queue) : nil,
                progress: { step in
                    journal.add("\(step.received.byteCount) \(step.completed)")
                    if hasQueue, DispatchQueue.getSpecific(key: key) != 1 { journal.add("another queue") }
                    if step.received.byteCount < 30 { feed.send(10) } else { feed.finish() }
                },
                completion: { result in
                    journal.add("end")
                    continuation.resume(returning: result)
                }
            )
        }
        #expect(try result.get().data.count == 30)
        #expect(journal.entries == ["10 false", "20 false", "30 false", "30 true", "end"])
    }

    @Test("A slow callback may miss steps, but never the last one")
    func slowCallback() async throws {
        let pieces = Mutex(0)
        let body = PipelineBody.stream(byteCount: 1000) {
            AsyncStream<Data> {
                for _ in 0..<20 { await Task.yield() }
                let isMore = pieces.withLock { count in
                    count += 1
                    return count <= 100
                }
                return isMore ? Data(count: 10) : nil
            }
        }
        let queue = DispatchQueue(label: "slow")
        queue.suspend()
        let end = PluginStack.process { _, _ in queue.resume() }
        let journal = Journal()
        let result = await withCheckedContinuation { continuation in
            RequestProgressTests.provider(ScriptedTransport([.status(200, body: body)]), [end]).request(
                TestTarget(),
                callbackExecutor: .queue(queue),
                progress: { journal.add("\($0.received.byteCount) \($0.completed)") },
                completion: { continuation.resume(returning: $0) }
            )
        }
        #expect(try result.get().data.count == 1000)
        #expect(journal.entries.count <= 3)
        #expect(journal.entries.last == "1000 true")
    }

    @Test("M153 A failed call has no final progress step")
    func callbackFailure() async throws {
        let journal = Journal()
        let result = await withCheckedContinuation { continuation in
            RequestProgressTests.provider(ScriptedTransport([.failure(.dns)])).request(
                TestTarget(),
                progress: { _ in journal.add("step") },
                completion: { continuation.resume(returning: $0) }
            )
        }
        #expect(throws: PipelineError.self) { try result.get() }
        #expect(journal.entries == [])
    }

    @Test("A Provider<MultiTarget> reports progress for any target")
    func multiTarget() async throws {
        let provider = Provider<MultiTarget>(transport: ScriptedTransport(always: .status(200)))
        var count = 0
        for try await step in provider.requestWithProgress(TestTarget()) { count += step.completed ? 1 : 0 }
        let progress = provider.requestWithProgress(MultiTarget(TestTarget()))
        for try await step in progress { count += step.completed ? 1 : 0 }
        let done = await withCheckedContinuation { continuation in
            provider.request(TestTarget(), progress: { _ in }, completion: { continuation.resume(returning: $0) })
        }
        #expect(try done.get().statusCode == 200)
        #expect(count == 2)
    }
}
