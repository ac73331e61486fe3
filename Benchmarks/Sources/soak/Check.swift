/// A figure of a run and its verdict.
struct Check: Sendable {
    enum Verdict: String, Sendable {
        case holds = "ok"
        case fails = "FAILED"
        /// The figure is shown but not judged.
        case shown = ""
    }

    let name: String
    let text: String
    let verdict: Verdict

    init(_ name: String, _ text: String, _ holds: Bool?) {
        self.name = name
        self.text = text
        verdict = holds.map { $0 ? .holds : .fails } ?? .shown
    }
}

extension Figures {
    /// All figures of the run.
    ///
    /// The run passes if none of them fails.
    var checks: [Check] {
        let total = tally.outcomeCount
        var checks = [
            Check("outcomes", "\(total) of \(callCount) calls", total == callCount),
            Check("mismatches", "\(tally.mismatchCount)", tally.mismatchCount == 0),
            Check("requests per second", "\(Int(Double(total) / (duration / .seconds(1))))", nil),
            Check("exchanges", "\(exchangeCount), \(liveExchangeCount) not ended", liveExchangeCount == 0),
        ]
        if let latency = cancelLatencyCheck { checks.append(latency) }
        if let descriptors {
            let text = "\(descriptors.before) before, \(descriptors.after) after"
            checks.append(Check("descriptors", text, descriptors.after == descriptors.before))
        }
        if let threads { checks.append(Check("threads", "\(threads.before) before, \(threads.after) after", nil)) }
        let held = remains.isEmpty ? "none" : remains.joined(separator: ", ")
        checks.append(Check("objects still alive", held, remains.isEmpty))
        if let count = openConnectionCount {
            checks.append(Check("open connections", "\(count) after \(settling.inMilliseconds)", count == 0))
            checks.append(Check("server", serverEndedWell ? "exited" : "crashed", serverEndedWell))
        }
        if let memory = memoryCheck { checks.append(memory) }
        return checks
    }

    private var cancelLatencyCheck: Check? {
        guard let p99 = tally.cancelLatencies.latency(atShare: 0.99),
            let p50 = tally.cancelLatencies.latency(atShare: 0.5)
        else { return nil }
        let text =
            "p50 \(p50.inMilliseconds), p99 \(p99.inMilliseconds), max \(tally.cancelLatencies.longest.inMilliseconds), "
            + "of \(tally.cancelLatencies.count) calls"
        let isJudged = tally.cancelLatencies.count >= Self.leastCountForLatency
        return Check("cancel until return", text, isJudged ? p99 <= Self.allowedCancelLatency : nil)
    }

    private var memoryCheck: Check? {
        guard let growth = memoryGrowth, let plain = plainMemoryGrowth else { return nil }
        let shown = stride(from: 0, to: samples.count, by: max(1, samples.count / 12))
        let course = shown.map { "\(samples[$0].byteCount >> 10)" }.joined(separator: ", ")
        let text = "grew by \(growth >> 10) KiB (last minus first: \(plain >> 10)); samples in KiB: \(course)"
        return Check("memory", text, callCount >= Self.leastCountForMemory ? growth <= Self.allowedMemoryGrowth : nil)
    }
}

extension Duration {
    /// The duration in milliseconds with two decimals.
    var inMilliseconds: String {
        let hundredths = Int(self / .microseconds(10))
        let fraction = hundredths % 100
        return "\(hundredths / 100).\(fraction < 10 ? "0" : "")\(fraction) ms"
    }
}
