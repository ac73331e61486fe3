import Synchronization

/// One way through the interceptors of a stack, after the first: an interceptor that calls `next` again begins one.
final class Pass: Sendable {
    let marks = InterceptorMarks()
}

/// Which interceptors of a pass have called `next`, and which have returned.
///
/// Within a pass each interceptor runs at most once, so that a bit for each tells all.
struct InterceptorMarks: ~Copyable, Sendable {
    enum Beginning {
        case first
        case again
        case closed
    }

    static let maximumCount = 64

    private let called = Atomic<UInt64>(0)
    private let returned = Atomic<UInt64>(0)

    /// Notes that the interceptor of this number calls `next`.
    func begin(_ number: Int) -> Beginning {
        let bit = UInt64(1) << UInt64(number)
        if returned.load(ordering: .relaxed) & bit != 0 { return .closed }
        return called.bitwiseOr(bit, ordering: .relaxed).oldValue & bit == 0 ? .first : .again
    }

    /// Notes that the interceptor of this number has returned.
    func end(_ number: Int) {
        returned.bitwiseOr(UInt64(1) << UInt64(number), ordering: .relaxed)
    }
}
