import Pipeline
import TestSupport
import Testing

@testable import PipelinePlugins

@Suite("ActivityState", .tags(.concurrent), .watched)
struct ActivityStateTests {
    @Test("The indicator is shown once calls have run for showAfter, and hidden once none has run for hold")
    func showsAndHides() {
        var state = ActivityState(showAfter: .milliseconds(200), hold: .milliseconds(300))
        #expect(state.nextTick == nil)
        #expect(state.begin(at: .milliseconds(10)) == nil)
        #expect(state.nextTick == .milliseconds(210))
        #expect(state.tick(at: .milliseconds(209)) == nil)
        #expect(state.tick(at: .milliseconds(210)) == true)
        #expect(state.nextTick == nil)
        #expect(state.end(at: .milliseconds(250)) == nil)
        #expect(state.nextTick == .milliseconds(550))
        #expect(state.tick(at: .milliseconds(549)) == nil)
        #expect(state.tick(at: .milliseconds(550)) == false)
        #expect(state.nextTick == nil)
    }

    @Test("Overlapping calls count as one, and a gap restarts the delay")
    func overlap() {
        var state = ActivityState(showAfter: .milliseconds(200), hold: .zero)
        _ = state.begin(at: .zero)
        _ = state.begin(at: .milliseconds(150))
        _ = state.end(at: .milliseconds(160))
        #expect(state.nextTick == .milliseconds(200))
        _ = state.end(at: .milliseconds(170))
        #expect(state.nextTick == nil)
        _ = state.begin(at: .milliseconds(180))
        #expect(state.nextTick == .milliseconds(380))
    }

    @Test("With zero times, the state changes at once")
    func zero() {
        var state = ActivityState(showAfter: .zero, hold: .zero)
        #expect(state.begin(at: .zero) == true)
        #expect(state.begin(at: .zero) == nil)
        #expect(state.end(at: .zero) == nil)
        #expect(state.end(at: .zero) == false)
        #expect(state.nextTick == nil)
    }

    @Test("A time before the previous one is treated as the previous one")
    func backwards() {
        var state = ActivityState(showAfter: .milliseconds(200), hold: .milliseconds(300))
        _ = state.begin(at: .milliseconds(100))
        _ = state.end(at: .milliseconds(90))
        _ = state.begin(at: .milliseconds(80))
        #expect(state.nextTick == .milliseconds(300))
    }

    @Test(
        "In 120,000 random steps, every change is due, none is missed, and shown and hidden alternate",
        arguments: 1...12
    )
    func model(seed: UInt64) async {
        var random = PipelineRandom.seeded(seed)
        let times = [0, 1, 20, 50]
        let showAfter = Duration.milliseconds(times[Int.random(in: 0..<4, using: &random)])
        let hold = Duration.milliseconds(times[Int.random(in: 0..<4, using: &random)])
        var state = ActivityState(showAfter: showAfter, hold: hold)
        var now = Duration.zero
        var turn = Duration.zero
        var count = 0
        var isShown = false
        var faults: [String] = []
        for step in 0..<10_000 {
            if step % 1_000 == 0 { await Task.yield() }
            now += .milliseconds(Int.random(in: 0..<30, using: &random))
            let change: Bool?
            switch Int.random(in: 0..<4, using: &random) {
            case 0:
                if count == 0 { turn = now }
                count += 1
                change = state.begin(at: now)
            case 1 where count > 0:
                if count == 1 { turn = now }
                count -= 1
                change = state.end(at: now)
            default:
                if let next = state.nextTick, Bool.random(using: &random) { now = max(now, next) }
                change = state.tick(at: now)
                let isBusy = count > 0
                if now >= turn + (isBusy ? showAfter : hold), state.isShown != isBusy {
                    faults.append("\(step): a change was missed")
                }
            }
            if let change {
                if change == isShown { faults.append("\(step): told \(change) twice") }
                if change ? count == 0 || now < turn + showAfter : count > 0 || now < turn + hold {
                    faults.append("\(step): \(change) was not due")
                }
                isShown = change
            }
            let due: Duration? = (count > 0) == isShown ? nil : turn + (isShown ? hold : showAfter)
            if state.nextTick != due { faults.append("\(step): the next tick is wrong") }
            if state.isShown != isShown || state.callCount != count { faults.append("\(step): the state is wrong") }
        }
        #expect(faults == [])
    }
}
