/// A contest at one concurrency and one size of bodies.
struct Row: Codable {
    struct Result: Codable {
        let side: String
        let requestsPerSecond: Double
        /// The median of each round's own ratio, so that a machine that slows down slows all sides.
        let ofDirect: Double
        /// Of this process for one request.
        let processorMicroseconds: Double
        let allocations: Double
    }

    static let sides = ["directly", "no plugins", "six plugins"]

    let transport: String
    let inFlight: Int
    let bodyByteCount: Int
    let results: [Result]

    /// Measures the sides in turn, round after round, every other round backwards.
    static func measure(
        _ contest: Contest,
        inFlight: Int,
        bodyByteCount: Int,
        rounds: Int,
        slice: Duration
    ) async throws -> Row {
        var slices = Array(repeating: [Slice](), count: contest.sides.count)
        for round in 0...rounds {
            let order = round % 2 == 0 ? Array(contest.sides.indices) : contest.sides.indices.reversed()
            for index in order {
                let side = contest.sides[index]
                let result = try await Slice.measure(side, bodyByteCount, inFlight: inFlight, for: slice)
                // The first round warms up.
                if round > 0 { slices[index].append(result) }
            }
        }
        let results = slices.indices.map { index in
            Result(
                side: sides[index],
                requestsPerSecond: median(slices[index].map(\.rate)),
                ofDirect: median(zip(slices[index], slices[0]).map { $0.rate / $1.rate }),
                processorMicroseconds: median(slices[index].map(\.processorMicroseconds)),
                allocations: median(slices[index].map(\.allocations))
            )
        }
        return Row(transport: contest.name, inFlight: inFlight, bodyByteCount: bodyByteCount, results: results)
    }

    static let heading = """
                                         requests/s        of direct requests/s       processor µs       allocations
                                           directly     no plugins  six plugins   directly    six     directly    six
        """

    /// A line of a table under the heading.
    var line: String {
        let size = bodyByteCount < 1024 ? "\(bodyByteCount) B" : "\(bodyByteCount / 1024) KiB"
        let (direct, none, six) = (results[0], results[1], results[2])
        return Text.left("\(transport), \(inFlight) in flight, \(size)", 41)
            + Text.right(direct.requestsPerSecond, 0, 10) + Text.right(none.ofDirect, 3, 15)
            + Text.right(six.ofDirect, 3, 13)
            + Text.right(direct.processorMicroseconds, 1, 11) + Text.right(six.processorMicroseconds, 1, 7)
            + Text.right(direct.allocations, 1, 13) + Text.right(six.allocations, 1, 7)
    }
}
