import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@testable import PipelineResilience

@Suite("Schedules of PermitQueue", .tags(.concurrent), .watched)
struct PermitQueueScheduleTests {
    /// A call of a random schedule, in milliseconds from its start.
    private struct Call: Sendable {
        let arrival: Int
        let hold: Int
        let priority: TrafficPriority
        let deadline: Int?
        let cancellation: Int?
    }

    /// What happened to a call, in milliseconds.
    private enum Event: Sendable, Hashable {
        case admitted(Int)
        case released(Int)
        case refused(PermitRefusal.Reason, Int)
    }

    private final class Log: Sendable {
        let events = Mutex<[Int: [Event]]>([:])

        func add(_ event: Event, of call: Int) {
            events.withLock { $0[call, default: []].append(event) }
        }
    }

    private static func makeCalls(_ random: inout PipelineRandom) -> [Call] {
        let count = Int.random(in: 2...14, using: &random)
        return (0..<count).map { _ in
            let arrival = Int.random(in: 0...20, using: &random)
            let priorities: [TrafficPriority] = [.low, .normal, .high]
            let hasDeadline = Int.random(in: 0..<3, using: &random) == 0
            let isCancelled = Int.random(in: 0..<3, using: &random) == 0
            return Call(
                arrival: arrival,
                hold: Int.random(in: 0...10, using: &random),
                priority: priorities[Int.random(in: 0...2, using: &random)],
                deadline: hasDeadline ? arrival + Int.random(in: 0...15, using: &random) : nil,
                cancellation: isCancelled ? arrival + Int.random(in: 0...15, using: &random) : nil
            )
        }
    }

    private static func run(
        _ calls: [Call],
        at permits: PermitQueue<CountingMeter>,
        on clock: PipelineClock
    ) async -> [Int: [Event]] {
        let log = Log()
        let start = clock.now
        let now: @Sendable () -> Int = { Int(start.duration(to: clock.now) / .milliseconds(1)) }
        let moment: @Sendable (Int) -> PipelineClock.Instant = { start.advanced(by: .milliseconds($0)) }
        await withTaskGroup(of: Void.self) { group in
            for (id, call) in calls.enumerated() {
                group.addTask {
                    try? await clock.sleep(until: moment(call.arrival))
                    await withTaskGroup(of: Void.self) { group in
                        group.addTask {
                            do throws(PermitRefusal) {
                                _ = try await permits.enter(
                                    1,
                                    call.priority,
                                    before: { call.deadline.map(moment) },
                                    on: clock
                                )
                                log.add(.admitted(now()), of: id)
                                try? await clock.sleep(for: .milliseconds(call.hold))
                                log.add(.released(now()), of: id)
                                permits.change(on: clock) { $0.release() }
                            } catch {
                                log.add(.refused(error.reason, now()), of: id)
                            }
                        }
                        if let cancellation = call.cancellation {
                            group.addTask { try? await clock.sleep(until: moment(cancellation)) }
                        }
                        await group.next()
                        group.cancelAll()
                    }
                }
            }
        }
        return log.events.withLock(\.self)
    }

    /// What is wrong with the events of a schedule.
    private static func faults(in events: [Int: [Event]], of calls: [Call], limit: Int) -> [String] {
        var faults: [String] = []
        let endings = Set(
            events.values.joined().map { event in
                switch event {
                case .admitted(let time), .released(let time), .refused(_, let time): time
                }
            }
        )
        for (id, call) in calls.enumerated() {
            switch events[id]?.first {
            case .admitted(let time):
                if let deadline = call.deadline, time >= deadline { faults.append("\(id) admitted after its deadline") }
                if let cancellation = call.cancellation, time > cancellation {
                    faults.append("\(id) outlived its task")
                }
                // A permit is handed on when another call leaves, not later.
                if time > call.arrival, !endings.contains(time) { faults.append("\(id) admitted without a release") }
                if events[id]?.count != 2 { faults.append("\(id) did not release its permit") }
            case .refused(.tooLate, let time):
                if time != call.deadline.map({ max($0, call.arrival) }) { faults.append("\(id) refused at \(time)") }
            case .refused(.cancelled, let time):
                if time != call.cancellation { faults.append("\(id) cancelled at \(time)") }
            case .refused(.full, _): break
            default: faults.append("\(id) ended with \(events[id] ?? [])")
            }
        }
        return faults
    }

    @Test("No schedule of cancellations and deadlines loses a permit or a wakeup", arguments: 1...4)
    func schedules(seed: Int) async {
        var random = PipelineRandom.seeded(UInt64(seed))
        let manual = ManualClock()
        let clock = PipelineClock(manual)
        var outcomes: [PermitRefusal.Reason: Int] = [:]
        var waitedCount = 0
        for schedule in 1...1_000 {
            let limit = Int.random(in: 1...3, using: &random)
            let maximumWaitingCount = Int.random(in: 0...6, using: &random)
            let calls = Self.makeCalls(&random)
            let permits = PermitQueue(CountingMeter(limit: limit), maximumWaitingCount: maximumWaitingCount)
            let events = await manual.run { await Self.run(calls, at: permits, on: clock) }
            let faults = Self.faults(in: events, of: calls, limit: limit)
            #expect(faults.isEmpty, "schedule \(schedule)")
            let mostInUse = permits.change(on: clock, \.mostInUse)
            let isIdle = permits.isIdle(at: clock.now)
            #expect(mostInUse <= limit && isIdle && manual.sleeperCount == 0, "schedule \(schedule)")
            for (id, event) in events.mapValues(\.first) {
                if case .refused(let reason, _) = event { outcomes[reason, default: 0] += 1 }
                if case .admitted(let time) = event, time > calls[id].arrival { waitedCount += 1 }
            }
        }
        // The schedules reach every case often.
        #expect(waitedCount > 500)
        #expect([.full, .tooLate, .cancelled].allSatisfy { outcomes[$0, default: 0] > 200 }, "\(outcomes)")
    }
}
