import Synchronization

/// Texts that a test has seen, in order.
final class SharedList: Sendable {
    private let texts = Mutex<[String]>([])

    var all: [String] { texts.withLock { $0 } }

    func append(_ text: String) { texts.withLock { $0.append(text) } }

    /// Adds the text if the list is empty, and returns the first one.
    func first(_ text: String) -> String {
        texts.withLock { texts in
            if texts.isEmpty { texts.append(text) }
            return texts[0]
        }
    }
}
