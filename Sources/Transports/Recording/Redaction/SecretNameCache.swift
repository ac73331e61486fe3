import Pipeline
import Synchronization

/// Which names are secret, looked up once each.
final class SecretNameCache: Sendable {
    private let words: Set<String>
    private let known = Mutex<[String: Bool]>([:])

    init(_ words: Set<String>) { self.words = words }

    func contains(_ name: String) -> Bool {
        if let answer = known.withLock({ $0[name] }) { return answer }
        let answer = SecretNames(words).contains(name)
        guard name.utf8.count <= Self.longestName else { return answer }
        known.withLock { known in
            if known.count >= Self.maximumCount { known = [:] }
            known[name] = answer
        }
        return answer
    }

    private static let longestName = 128
    private static let maximumCount = 4_096
}
