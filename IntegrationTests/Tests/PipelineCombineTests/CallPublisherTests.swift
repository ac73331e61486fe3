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

@Suite("Publishers of calls: demand and cancellation", .tags(.concurrent), .watched)
struct CallPublisherTests {
    /// A call whose values and end are sent by the test.
    final class Call: Sendable {
        private let state = Mutex<(receivers: [CallPublisher<Int>.Receiver], cancelCount: Int)>(([], 0))

        var startCount: Int { state.withLock { $0.receivers.count } }
        var cancelCount: Int { state.withLock { $0.cancelCount } }

        func start(_ receiver: CallPublisher<Int>.Receiver) -> @Sendable () -> Void {
            state.withLock { $0.receivers.append(receiver) }
            return { self.state.withLock { $0.cancelCount += 1 } }
        }

        func send(_ value: Int) {
            state.withLock { $0.receivers.last }?.send(value)
        }

        func finish(_ failure: PipelineError? = nil) {
            state.withLock { $0.receivers.last }?.finish(failure)
        }

        func publisher(executor: (any TaskExecutor)? = nil) -> CallPublisher<Int> {
            CallPublisher(executor: executor) { self.start($0) }
        }
    }

    let call = Call()

    func subscribed(_ probe: Probe<Int> = Probe()) -> Probe<Int> {
        call.publisher().subscribe(probe)
        return probe
    }

    @Test("M179 Nothing is sent before there is demand")
    func cold() {
        let probe = subscribed()
        #expect(call.startCount == 0)
        probe.request(.max(1))
        #expect(call.startCount == 1)
    }

    @Test("B-M40 A subscription sends one request, however often it demands values")
    func once() {
        let probe = subscribed()
        for _ in 0..<3 { probe.request(.max(1)) }
        #expect(call.startCount == 1)
        call.send(1)
        probe.request(.unlimited)
        call.finish()
        probe.request(.max(1))
        #expect(call.startCount == 1)
        #expect(probe.notes.values == [1])
        #expect(probe.notes.endCount == 1)
    }

    @Test("M179 Each subscription sends its own request")
    func again() {
        let publisher = call.publisher()
        for count in 1...3 {
            let probe = Probe<Int>()
            publisher.subscribe(probe)
            probe.request(.unlimited)
            #expect(call.startCount == count)
            call.send(count)
            call.finish()
            #expect(probe.notes.values == [count])
        }
    }

    @Test("A demand of none sends nothing")
    func noDemand() {
        let probe = subscribed()
        probe.request(.none)
        #expect(call.startCount == 0)
    }

    @Test("A subscription cancelled before there is demand sends nothing")
    func cancelledEarly() {
        let probe = subscribed()
        probe.cancel()
        probe.request(.unlimited)
        #expect(call.startCount == 0)
        #expect(call.cancelCount == 0)
    }
}
