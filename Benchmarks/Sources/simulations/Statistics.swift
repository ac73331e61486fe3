extension Duration {
    var seconds: Double { self / .seconds(1) }
    var milliseconds: Double { self / .milliseconds(1) }
}

/// Returns the value that a share of all values does not exceed; 0 if there are none.
func percentile(_ share: Double, _ values: [Double]) -> Double {
    guard !values.isEmpty else { return 0 }
    let rank = Int((share * Double(values.count)).rounded(.up))
    return values.sorted()[min(max(rank, 1), values.count) - 1]
}

/// Returns how many moments there are per second, in each interval of a length.
func rates(_ moments: [Duration], every interval: Duration, for duration: Duration) -> [Point] {
    var counts = Array(repeating: 0, count: Int(duration / interval))
    for moment in moments where moment < duration {
        let index = Int(moment / interval)
        if counts.indices.contains(index) { counts[index] += 1 }
    }
    return counts.enumerated().map { index, count in
        Point(x: (Double(index) + 0.5) * interval.seconds, y: Double(count) / interval.seconds)
    }
}
