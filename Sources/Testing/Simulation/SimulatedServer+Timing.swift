import Foundation
import PipelineCore

extension SimulatedServer {
    /// How long something takes: a fixed time, or one that is drawn at random each time.
    public struct Timing: Sendable {
        private let make: @Sendable (inout PipelineRandom) -> Duration

        /// The same time each time.
        public static func constant(_ time: Duration) -> Timing {
            precondition(time >= .zero, "time is \(time), less than zero")
            return Timing { _ in time }
        }

        /// Any time of a range, each as likely as the others.
        public static func uniform(_ range: ClosedRange<Duration>) -> Timing {
            precondition(range.lowerBound >= .zero, "range begins at \(range.lowerBound), less than zero")
            let width = range.upperBound - range.lowerBound
            return Timing { range.lowerBound + width * Double.random(in: 0...1, using: &$0) }
        }

        /// An exponential distribution: mostly short times and a few that are several times the mean.
        public static func exponential(mean: Duration) -> Timing {
            precondition(mean >= .zero, "mean is \(mean), less than zero")
            return Timing { mean * -log(1 - Double.random(in: 0..<1, using: &$0)) }
        }

        /// Returns the same timing with a share of slow cases.
        ///
        /// - Parameters:
        ///   - share: the probability that a case is slow, from 0 to 1.
        ///   - delay: the time that a slow case takes in addition.
        /// - Returns: the timing with the slow cases.
        public func slow(_ share: Double, by delay: Duration) -> Timing {
            precondition((0...1).contains(share), "share is \(share), not from 0 to 1")
            precondition(delay >= .zero, "delay is \(delay), less than zero")
            return Timing { [self] random in
                let isSlow = Double.random(in: 0..<1, using: &random) < share
                return draw(&random) + (isSlow ? delay : .zero)
            }
        }

        func draw(_ random: inout PipelineRandom) -> Duration { make(&random) }
    }
}
