import Pipeline
import Synchronization

/// Decides in which places names are secret, and looks each name up once.
final class SecretNameCache: Sendable {
    private let words: SecretWords
    private let known = Mutex<[String: SecretPlaces]>([:])

    init(_ words: Set<String>) { self.words = SecretWords(words) }

    func places(of name: String) -> SecretPlaces {
        if let places = known.withLock({ $0[name] }) { return places }
        let places = words.places(of: name)
        guard name.utf8.count <= Self.longestName else { return places }
        known.withLock { known in
            if known.count >= Self.maximumCount { known = [:] }
            known[name] = places
        }
        return places
    }

    private static let longestName = 128
    private static let maximumCount = 4_096
}
