import Synchronization

/// A pass through the interceptors of a stack after the first one, begun when an interceptor calls `next` again.
final class Pass: Sendable {
    let marks = InterceptorMarks()
}

/// Records which interceptors of a pass have called `next`, and which have returned.
///
/// Each interceptor runs at most once in a pass, so one bit for each is enough.
struct InterceptorMarks: ~Copyable, Sendable {
    enum Beginning {
        case first
        case again
        case closed
    }

    static let maximumCount = 64

    private let called = Atomic<UInt64>(0)
    private let returned = Atomic<UInt64>(0)

    /// Records that the interceptor with this number calls `next`.
    func begin(_ number: Int) -> Beginning {
        let bit = UInt64(1) << UInt64(number)
        if returned.load(ordering: .relaxed) & bit != 0 { return .closed }
        return called.bitwiseOr(bit, ordering: .relaxed).oldValue & bit == 0 ? .first : .again
    }

    /// Records that the interceptor with this number has returned.
    func end(_ number: Int) {
        returned.bitwiseOr(UInt64(1) << UInt64(number), ordering: .relaxed)
    }
}
