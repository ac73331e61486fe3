import Dispatch
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("Provider callbacks after cancel()", .tags(.concurrent), .realTime, .watched)
struct CallbackCancellationTests {
    private let journal = Journal()

    private static func text(_ result: Result<PipelineResponse, PipelineError>) -> String {
        switch result {
        case .success(let response): "\(response.statusCode)"
        case .failure(let error): error.code.rawValue
        }
    }

    @Test(
        "A call cancelled while its completion waits for an actor completes once, as cancelled, without progress",
        arguments: [ScriptedTransport.Step.status(200), .status(500), .failure(.offline)],
        [true, false]
    )
    func waitingForActor(step: ScriptedTransport.Step, hasQueue: Bool) async throws {
        let clock = ManualClock()
        let transport = ScriptedTransport(always: .delayed(.seconds(1), step))
        let provider = Provider<TestTarget>(transport: transport, configuration: .init(clock: clock))
        let busy = BusyActor()
        let handle = await busy.request(provider, on: hasQueue ? DispatchQueue(label: "callbacks") : nil)
        try await clock.waitForSleepers()
        busy.executor.queue.suspend()
        let jobCount = busy.executor.jobCount
        clock.advance(by: .seconds(1))
        await eventually { busy.executor.jobCount > jobCount }
        handle.cancel()
        busy.executor.queue.resume()
        await handle.value
        #expect(await busy.notes == ["cancelled"])
    }

    @Test("A call cancelled while its completion waits for a queue completes once, as cancelled, without progress")
    func waitingForQueue() async throws {
        let transport = ScriptedTransport(always: .status(200))
        let provider = Provider<TestTarget>(transport: transport)
        let queue = DispatchQueue(label: "callbacks")
        queue.suspend()
        let handle = provider.request(
            TestTarget(),
            callbackExecutor: .queue(queue),
            progress: { [journal] in journal.add("\($0.progress)") },
            completion: { [journal] in journal.add(Self.text($0)) }
        )
        await eventually { transport.sent.count == 1 }
        // The call's progress to the queue cannot be observed; an earlier cancellation has the same outcome.
        for _ in 0..<100 { await Task.yield() }
        handle.cancel()
        queue.resume()
        await handle.value
        #expect(journal.entries == ["cancelled"])
    }

    @Test("A call cancelled on the main actor does not report success there afterwards")
    @MainActor
    func onMainActor() async throws {
        let provider = Provider<TestTarget>(transport: ScriptedTransport(always: .status(200, body: "7")))
        for round in 0..<60 {
            var notes: [String] = []
            let handles = [
                provider.request(TestTarget()) { notes.append(Self.text($0)) },
                provider.request(TestTarget(), progress: { _ in }, completion: { notes.append(Self.text($0)) }),
            ]
            // Blocks the main actor while the responses arrive, so that their delivery waits for it.
            let end = ContinuousClock.now + .microseconds(round * 50)
            while ContinuousClock.now < end {}
            let before = notes
            for handle in handles { handle.cancel() }
            for handle in handles { await handle.value }
            #expect(notes.count == 2 && notes.dropFirst(before.count).allSatisfy { $0 == "cancelled" })
        }
    }

    @Test("A failure caused by the cancellation keeps its exchanges")
    func exchanges() async throws {
        let transport = ScriptedTransport(always: .hang)
        let provider = Provider<TestTarget>(transport: transport)
        let handle = provider.request(TestTarget()) { [journal] result in
            guard case .failure(let error) = result else { return journal.add("success") }
            journal.add("\(error.code) \(error.exchanges.count)")
        }
        await eventually { transport.sent.count == 1 }
        handle.cancel()
        await handle.value
        #expect(journal.entries == ["cancelled 1"])
    }

    @Test("A call's task ends after its last callback, and its isCancelled reports cancellation")
    func finished() async throws {
        let provider = Provider<TestTarget>(transport: ScriptedTransport(always: .status(200)))
        let handle = provider.request(TestTarget()) { [journal] in journal.add(Self.text($0)) }
        await handle.value
        #expect(journal.entries == ["200"] && !handle.isCancelled)
        await handle.value
        handle.cancel()
        #expect(journal.entries == ["200"] && handle.isCancelled)
        let waiting = Task { await handle.value }
        waiting.cancel()
        await waiting.value
    }
}

extension BusyActor {
    fileprivate func request(_ provider: Provider<TestTarget>, on queue: DispatchQueue?) -> Task<Void, Never> {
        provider.request(
            TestTarget(),
            callbackExecutor: queue.map { .queue($0) },
            progress: { self.note("\($0.progress)") },
            completion: { result in
                switch result {
                case .success: self.note("success")
                case .failure(let error): self.note(error.code.rawValue)
                }
            }
        )
    }
}
