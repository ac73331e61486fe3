import Synchronization

extension ProgressResponse {
    /// The combined progress of several transfers, such as the downloads of a list of files.
    ///
    /// ```swift
    /// let meter = ProgressResponse.Meter(count: files.count)
    /// for try await step in provider.requestWithProgress(.download(file)) {
    ///     bar.progress = meter.update(step, of: file).progress
    /// }
    /// ```
    ///
    /// It is safe to use concurrently.
    public final class Meter: Sendable {
        private let count: Int
        private let steps = Mutex<[AnyHashable: ProgressResponse]>([:])

        /// Makes a meter.
        ///
        /// - Parameter count: the number of transfers, 1 and up.
        public init(count: Int) {
            precondition(count > 0, "the number of transfers is \(count), not 1 or more")
            self.count = count
        }

        /// Takes note of the newest step of a transfer, and returns all transfers as one step without a response.
        ///
        /// - Parameters:
        ///   - step: the newest step of the transfer.
        ///   - transfer: what distinguishes the transfer from the others, such as its target.
        /// - Returns: a step whose progress is the mean of all transfers. Bytes and speeds are sums. The total number
        ///   of bytes is `nil` until that of every transfer is known.
        @discardableResult
        public func update(_ step: ProgressResponse, of transfer: some Hashable & Sendable) -> ProgressResponse {
            var step = step
            // The bodies of many transfers would add up.
            step.response = nil
            let steps = steps.withLock { steps in
                steps[AnyHashable(transfer)] = step
                return Array(steps.values)
            }
            let speeds = steps.filter { $0.progress < 1 }.compactMap(\.bytesPerSecond)
            return ProgressResponse(
                progress: steps.reduce(0) { $0 + $1.progress } / Double(count),
                sent: sum(of: steps.map(\.sent)),
                received: sum(of: steps.map(\.received)),
                transfer: sum(of: steps.map(\.transfer)),
                bytesPerSecond: speeds.isEmpty ? nil : speeds.reduce(0, +)
            )
        }

        private func sum(of transfers: [Transfer]) -> Transfer {
            let totals = transfers.compactMap(\.totalByteCount)
            return Transfer(
                byteCount: transfers.reduce(0) { $0 + $1.byteCount },
                totalByteCount: totals.count == count ? totals.reduce(0, +) : nil
            )
        }
    }
}
