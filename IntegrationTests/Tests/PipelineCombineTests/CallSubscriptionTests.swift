import Dispatch
import Pipeline
import Synchronization
import TestSupport
import Testing

@testable import PipelineCombine

#if canImport(Combine)
import Combine
#else
import OpenCombine
#endif

@Suite("CallSubscription", .tags(.concurrent), .watched)
struct CallSubscriptionTests {
    let call = CallPublisherTests.Call()

    func subscribed(_ probe: Probe<Int> = Probe()) -> Probe<Int> {
        call.publisher().subscribe(probe)
        return probe
    }

    @Test("B-M40 No more values are published than demanded, and only the last waiting value is kept")
    func demand() {
        let probe = subscribed()
        probe.request(.max(1))
        for value in 1...4 { call.send(value) }
        #expect(probe.notes.values == [1])
        call.finish()
        #expect(probe.notes.endCount == 0)
        probe.request(.max(2))
        #expect(probe.notes.values == [1, 4])
        #expect(probe.notes.endCount == 1)
        #expect(probe.notes.failure == nil)
    }

    @Test("Demand adds up, whether requested or returned for a value")
    func addedDemand() {
        let probe = subscribed()
        probe.request(.max(1))
        probe.request(.max(2))
        for value in 1...4 { call.send(value) }
        #expect(probe.notes.values == [1, 2, 3])

        let generous = subscribed(Probe(demandPerValue: .max(1)))
        generous.request(.max(1))
        for value in 1...4 { call.send(value) }
        #expect(generous.notes.values == [1, 2, 3, 4])
    }

    @Test("Unlimited demand stays unlimited", arguments: [Subscribers.Demand.none, .max(1), .unlimited])
    func unlimited(_ more: Subscribers.Demand) {
        let probe = subscribed(Probe(demandPerValue: more))
        probe.request(.unlimited)
        probe.request(.unlimited)
        for value in 1...100 { call.send(value) }
        #expect(probe.notes.values == Array(1...100))
    }

    @Test("A failure is published without demand and replaces a waiting value")
    func failure() {
        let probe = subscribed()
        probe.request(.max(1))
        call.send(1)
        call.send(2)
        call.finish(PipelineError(.offline, "by script"))
        #expect(probe.notes.values == [1])
        #expect(probe.notes.endCount == 1)
        #expect(probe.notes.failure?.code == .offline)
        probe.request(.unlimited)
        #expect(probe.notes.values == [1])
    }

    @Test("M121 Cancelling the subscription cancels the call once")
    func cancel() {
        let probe = subscribed()
        probe.request(.unlimited)
        probe.cancel()
        probe.cancel()
        #expect(call.cancelCount == 1)
    }

    @Test("B-M40 Nothing is published after the subscription is cancelled")
    func cancelled() {
        let probe = subscribed()
        probe.request(.max(1))
        call.send(1)
        call.send(2)
        probe.cancel()
        probe.request(.unlimited)
        call.send(3)
        call.finish()
        #expect(probe.notes.values == [1])
        #expect(probe.notes.endCount == 0)
    }

    @Test("A call that has ended is not cancelled")
    func cancelledLate() {
        let probe = subscribed()
        probe.request(.unlimited)
        call.send(1)
        call.finish()
        probe.cancel()
        #expect(call.cancelCount == 0)
    }

    @Test("A subscriber may demand more or cancel while it receives a value")
    func reentrant() {
        let asking = subscribed(Probe { probe, _ in probe.request(.max(1)) })
        asking.request(.max(1))
        for value in 1...3 { call.send(value) }
        call.finish()
        #expect(asking.notes.values == [1, 2, 3])
        #expect(asking.notes.endCount == 1)

        let cancelling = subscribed(Probe(demandPerValue: .unlimited) { probe, _ in probe.cancel() })
        cancelling.request(.max(1))
        for value in 1...3 { call.send(value) }
        call.finish()
        #expect(cancelling.notes.values == [1])
        #expect(cancelling.notes.endCount == 0)
        #expect(call.cancelCount == 1)
    }

    @Test("A value sent while another is being received follows it")
    func nested() {
        let call = self.call
        let probe = Probe<Int> { probe, value in
            guard value < 3 else { return }
            call.send(value + 1)
            #expect(probe.notes.values == Array(1...value))
        }
        call.publisher().subscribe(probe)
        probe.request(.unlimited)
        call.send(1)
        #expect(probe.notes.values == [1, 2, 3])
    }

    @Test("A subscription cancelled while its call starts cancels the call")
    func cancelledAtStart() {
        let cancelCount = Mutex(0)
        let stop = Mutex<(@Sendable () -> Void)?>(nil)
        let publisher = CallPublisher<Int>(executor: nil) { receiver in
            receiver.send(1)
            stop.withLock { $0 }?()
            return { cancelCount.withLock { $0 += 1 } }
        }
        // Guarded by being used on this thread alone.
        nonisolated(unsafe) let probe = Probe<Int>()
        stop.withLock { $0 = { probe.cancel() } }
        publisher.subscribe(probe)
        probe.request(.unlimited)
        #expect(probe.notes.values == [1])
        #expect(cancelCount.withLock { $0 } == 1)
    }

    @Test("M183 A value that waited for demand is published on the queue")
    func lateDemand() async {
        let key = DispatchSpecificKey<Int>()
        let queue = DispatchQueue(label: "late")
        queue.setSpecific(key: key, value: 7)
        let place = AsyncStream.makeStream(of: Int?.self)
        let probe = Probe<Int> { _, value in
            if value == 2 { place.continuation.yield(DispatchQueue.getSpecific(key: key)) }
        }
        call.publisher(executor: .queue(queue)).subscribe(probe)
        probe.request(.max(1))
        call.send(1)
        call.send(2)
        probe.request(.max(1))
        var iterator = place.stream.makeAsyncIterator()
        #expect(await iterator.next() == 7)
    }

    @Test("A subscription releases what it holds when it ends or is cancelled", arguments: [true, false])
    func released(_ isCancelled: Bool) {
        final class Token: Sendable {}
        weak var token: Token?
        let receiver = Mutex<CallPublisher<Int>.Receiver?>(nil)
        let probe = Probe<Int>()
        do {
            let held = Token()
            token = held
            let publisher = CallPublisher<Int>(executor: nil) { [held] given in
                receiver.withLock { $0 = given }
                return { withExtendedLifetime(held) {} }
            }
            publisher.subscribe(probe)
        }
        #expect(token != nil)
        probe.request(.unlimited)
        #expect(token != nil)
        if isCancelled { probe.cancel() } else { receiver.withLock { $0 }?.finish(nil) }
        #expect(token == nil)
    }

    @Test("Concurrent values, demand and cancellation never exceed the demand, and end at most once")
    func race() async {
        for seed in 0..<200 {
            let call = CallPublisherTests.Call()
            let active = Atomic(0)
            let most = Atomic(0)
            // Guarded by what is tested: a subscriber is called by one thread at a time.
            nonisolated(unsafe) let probe = Probe<Int> { _, _ in
                let now = active.add(1, ordering: .relaxed).newValue
                most.max(now, ordering: .relaxed)
                active.subtract(1, ordering: .relaxed)
            }
            call.publisher().subscribe(probe)
            probe.request(.max(1))
            await withTaskGroup { group in
                group.addTask { for value in 1...20 { call.send(value) } }
                group.addTask { for _ in 1...5 { probe.request(.max(1)) } }
                group.addTask { if seed % 2 == 0 { probe.cancel() } }
                group.addTask { call.finish(seed % 3 == 0 ? PipelineError(.offline, "by script") : nil) }
            }
            #expect(probe.notes.values.count <= 6)
            #expect(probe.notes.values == probe.notes.values.sorted())
            #expect(probe.notes.endCount <= 1)
            #expect(most.load(ordering: .relaxed) <= 1)
        }
    }
}
