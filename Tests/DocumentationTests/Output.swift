import Synchronization

/// The text that a sample printed.
final class Output: Sendable {
    private let state = Mutex("")

    var text: String { state.withLock { $0 } }

    func add(_ text: String) {
        state.withLock { $0 += text }
    }
}
