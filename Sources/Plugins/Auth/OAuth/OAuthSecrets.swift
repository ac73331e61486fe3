import Foundation

/// Base64 with the URL-safe alphabet and without padding (RFC 4648 §5, RFC 7636 §3).
enum Base64URL {
    static func text(of bytes: some Sequence<UInt8>) -> String {
        Data(bytes).base64EncodedString().replacingOccurrences(of: "+", with: "-")
            .replacingOccurrences(of: "/", with: "_").replacingOccurrences(of: "=", with: "")
    }
}

/// Secret random values.
enum OAuthSecrets {
    /// Returns random bytes of the system's generator.
    static func bytes(_ count: Int) -> [UInt8] { (0..<count).map { _ in .random(in: .min ... .max) } }

    /// Compares two texts in a time that depends only on their lengths.
    static func areEqual(_ one: String, _ other: String) -> Bool {
        guard one.utf8.count == other.utf8.count else { return false }
        return zip(one.utf8, other.utf8).reduce(0) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
