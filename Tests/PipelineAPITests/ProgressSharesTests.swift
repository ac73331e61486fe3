import Foundation
import Pipeline
import PipelineAPI
import PipelineTesting
import TestSupport
import Testing

@Suite("ProgressShares", .tags(.concurrent), .watched)
struct ProgressSharesTests {
    private let journal = Journal()

    @Test("C99 Each operation has an equal share of the progress, even if it fails")
    func shares() async throws {
        let bench = APIBench(.ok, .status(500))
        let half = OwnOperation { _, report in
            // Neither a step lower than the one before nor one above 1 counts.
            for step in [0.5, 0.25, -1, 0.5] { report?(step) }
        }
        let whole = OwnOperation { _, report in report?(7) }
        let operations: [any APIOperation] = [whole, APIRequest<IgnoredBody>("1"), APIRequest<IgnoredBody>("2"), half]
        let batch = operations.flatten().avoidCancelOnError()
        let result = await batch.run(
            in: bench.api,
            observer: APIObserver(onProgress: { [journal] in journal.add("\($0)") })
        )
        #expect(try result.get().failures.count == 1)
        #expect(journal.entries == ["0.25", "0.5", "0.75", "0.875", "1.0"])
    }

    @Test("C99 B-C31 Shares that do not add up to exactly 1 still end with 1, and not before", arguments: 1...20)
    func wholeProgress(count: Int) async throws {
        let bench = APIBench()
        // Tenths are inexact in binary, and the last step is the greatest value below 1, so their sums are rounded.
        let own = OwnOperation { [journal] _, report in
            for step in [0.1, 0.2, 0.3, 0.6, 0.7, 0.9, Double(1).nextDown] { report?(step) }
            journal.add("end")
        }
        let batch = Array(repeating: own, count: count).flatten()
        _ = await batch.run(in: bench.api, observer: APIObserver(onProgress: { [journal] in journal.add("\($0)") }))
        let steps = journal.entries.compactMap(Double.init)
        #expect(zip(steps, steps.dropFirst()).allSatisfy(<) && steps.last == 1)
        #expect(journal.entries.suffix(2) == ["end", "1.0"])
    }
}
