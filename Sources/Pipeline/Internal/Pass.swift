import Synchronization

/// One way through the interceptors of a stack: which of them have called `next`, and which have returned.
///
/// An interceptor that calls `next` again sends the request through a pass of its own, so that within a pass each
/// interceptor runs at most once, and a bit for each tells all.
final class Pass: Sendable {
    enum Beginning {
        case first
        case again
        case closed
    }

    static let maximumInterceptorCount = 64

    let call: CallState
    private let called = Atomic<UInt64>(0)
    private let returned = Atomic<UInt64>(0)

    init(call: CallState) {
        self.call = call
    }

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
