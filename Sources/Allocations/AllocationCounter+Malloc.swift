import CAllocations
public import PipelineCore

extension PipelineAnalysis.AllocationCounter {
    /// The allocations of all threads; `nil` where they cannot be counted.
    ///
    /// Use it in a process that does nothing else, such as a benchmark. In a test, other tests would add theirs.
    ///
    /// **Effects**: a program that links this module counts its calls of `malloc`, `calloc`, `realloc` and
    /// `posix_memalign`, which adds a few nanoseconds to each. Allocations can be counted on Linux with glibc, unless a
    /// sanitizer is used. Do not link the module into a program that replaces `malloc`.
    public static let process: PipelineAnalysis.AllocationCounter? =
        pipeline_counts_allocations()
        ? PipelineAnalysis.AllocationCounter { Count(Int(pipeline_process_allocation_count())) } : nil

    /// The allocations of the calling thread; `nil` where they cannot be counted.
    ///
    /// Use it in tests, because tests on other threads do not affect it. It is exact for calls that stay on one thread,
    /// as calls to a stub do unless a plugin waits. It does not count what a plugin allocates on other threads. See
    /// ``process``.
    public static let thread: PipelineAnalysis.AllocationCounter? =
        pipeline_counts_allocations()
        ? PipelineAnalysis.AllocationCounter {
            Count(Int(pipeline_thread_allocation_count()), thread: Int(pipeline_thread_number()))
        } : nil
}
