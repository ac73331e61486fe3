/// The results of a contest at one concurrency and one body size.
struct Row: Codable {
    struct Result: Codable {
        let side: String
        let requestsPerSecond: Double
        /// The median of the rounds' ratios, so that a slower machine affects all sides.
        let ofDirect: Double
        /// The processor time of this process per request.
        let processorMicroseconds: Double
        let allocations: Double
    }

    let transport: String
    let inFlight: Int
    let bodyByteCount: Int
    let results: [Result]

    /// Measures the sides in turn, round after round, and reverses their order every other round.
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
                let result = try await contest.sides[index].measure(bodyByteCount, inFlight: inFlight, for: slice)
                // The first round is a warm-up.
                if round > 0 { slices[index].append(result) }
            }
        }
        let results = slices.indices.map { index in
            Result(
                side: contest.sides[index].name,
                requestsPerSecond: median(slices[index].map(\.rate)),
                ofDirect: median(zip(slices[index], slices[0]).map { $0.rate / $1.rate }),
                processorMicroseconds: median(slices[index].map(\.processorMicroseconds)),
                allocations: median(slices[index].map(\.allocations))
            )
        }
        return Row(transport: contest.name, inFlight: inFlight, bodyByteCount: bodyByteCount, results: results)
    }

    var title: String {
        let size = bodyByteCount < 1024 ? "\(bodyByteCount) B" : "\(bodyByteCount / 1024) KiB"
        return Text.left("\(transport), \(inFlight) in flight, \(size)", 41)
    }

    /// A table of this row alone, with a line for each side.
    var table: String {
        let lines = results.map { result in
            Text.left(result.side, 41) + Text.right(result.requestsPerSecond, 0, 10)
                + Text.right(result.ofDirect, 3, 11) + Text.right(result.processorMicroseconds, 1, 14)
                + Text.right(result.allocations, 1, 13)
        }
        return ([title + "requests/s  of direct  processor µs  allocations"] + lines).joined(separator: "\n")
    }
}
