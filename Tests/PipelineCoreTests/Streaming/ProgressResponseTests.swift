import Dispatch
import Foundation
import Pipeline
import TestSupport
import Testing

@Suite("ProgressResponse", .tags(.concurrent), .watched)
struct ProgressResponseTests {
    @Test("The initializer clamps progress to 0...1", arguments: [(-1.0, 0.0), (0.5, 0.5), (7, 1)])
    func madeByHand(_ given: Double, _ expected: Double) {
        #expect(ProgressResponse(progress: given).progress == expected)
        #expect(!ProgressResponse(progress: given).completed)
    }

    @Test(
        "timeLeft is the remaining bytes divided by the speed, and nil without a total, without a speed or at speed 0"
    )
    func timeLeft() {
        func timeLeft(_ count: Int, of total: Int?, _ bytesPerSecond: Double?) -> Duration? {
            let transfer = ProgressResponse.Transfer(byteCount: count, totalByteCount: total)
            return ProgressResponse(progress: 0, received: transfer, bytesPerSecond: bytesPerSecond).timeLeft
        }
        #expect(timeLeft(100, of: 1100, 500) == .seconds(2))
        #expect(timeLeft(1200, of: 1100, 500) == .zero)
        #expect(timeLeft(100, of: nil, 500) == nil)
        #expect(timeLeft(100, of: 1100, nil) == nil)
        #expect(timeLeft(100, of: 1100, 0) == nil)
        #expect(timeLeft(0, of: .max, .leastNonzeroMagnitude) == .seconds(1e15))
    }
}
