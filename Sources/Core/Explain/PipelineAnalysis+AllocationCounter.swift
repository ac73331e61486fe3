extension PipelineAnalysis {
    /// A counter of allocations, for `Provider.explain(running:)`.
    ///
    /// The core cannot count allocations. The product `PipelineAllocations` offers
    /// `PipelineAnalysis.AllocationCounter.process` and `PipelineAnalysis.AllocationCounter.thread`, which are `nil`
    /// where the platform cannot count them.
    public struct AllocationCounter: Sendable {
        /// The number of allocations so far.
        public struct Count: Sendable, Hashable {
            /// The number of blocks that were allocated so far.
            public let count: Int
            /// The thread whose allocations are counted; `nil` for those of the whole process.
            public let thread: Int?

            /// Makes a count.
            ///
            /// - Parameters:
            ///   - count: the number of blocks that were allocated so far.
            ///   - thread: a number that no other running thread has, if only the allocations of the calling thread are
            ///     counted. A difference between the counts of two threads is ignored.
            public init(_ count: Int, thread: Int? = nil) {
                self.count = count
                self.thread = thread
            }
        }

        private let makeCount: @Sendable () -> Count

        /// Makes a counter.
        ///
        /// - Parameter makeCount: returns the count; it must not allocate.
        public init(_ makeCount: @escaping @Sendable () -> Count) {
            self.makeCount = makeCount
        }

        /// Returns the number of allocations so far.
        public func read() -> Count { makeCount() }
    }
}
