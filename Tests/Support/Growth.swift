#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// Whether work on an input of 16 times the size takes about 16 times as long, rather than 256 times.
///
/// Compares times of this thread's processor, so that the speed of the machine does not matter, and accepts up to 64
/// times. Other threads still evict its caches, so one of five comparisons suffices; 256 is too far for any of them.
/// `work` gets the size, must not suspend and should take at least a millisecond for `size`.
package func isLinear(_ size: Int, _ work: (Int) throws -> Void) rethrows -> Bool {
    func seconds(_ size: Int) throws -> Double {
        let start = threadTime
        try work(size)
        return threadTime - start
    }
    // The first run pays for what later ones share.
    try work(size)
    for _ in 0..<5 {
        let single = try seconds(size)
        if try seconds(16 * size) < 64 * single { return true }
    }
    return false
}

/// The seconds for which the processor has worked for this thread.
private var threadTime: Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}
