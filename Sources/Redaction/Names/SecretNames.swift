import Synchronization

/// A cache that decides in which places names are secret, and evaluates each name once.
///
/// A class, so that copies of a redactor share the cache.
package final class SecretNames: Sendable {
    private let words: SecretWords
    private let known = Mutex<[String: SecretPlaces]>([:])

    init(_ words: Set<String>) { self.words = SecretWords(words) }

    /// Returns the places in which a name is secret.
    package func places(of name: String) -> SecretPlaces {
        if let places = known.withLock({ $0[name] }) { return places }
        let places = words.places(of: name)
        guard name.utf8.count <= Self.longestName else { return places }
        known.withLock { known in
            if known.count >= Self.maximumCount { known = [:] }
            known[name] = places
        }
        return places
    }

    /// Returns whether a name is secret in a place.
    func contains(_ name: String, in place: SecretPlaces) -> Bool { places(of: name).contains(place) }

    /// Returns whether one of the words of a text is a secret name.
    func contains(wordOf text: String) -> Bool {
        text.withBytes { bytes in
            bytes.split { !Self.isWordByte($0) }.contains {
                contains(String(decoding: $0, as: UTF8.self), in: .member)
            }
        }
    }

    /// ASCII letters and digits, `_` and `-`, which join parts of names, and all non-ASCII bytes.
    private static func isWordByte(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5a, 0x61...0x7a, 0x80...0xff, UInt8(ascii: "_"), UInt8(ascii: "-"): true
        default: false
        }
    }

    private static let longestName = 128
    private static let maximumCount = 4_096
}
