import Foundation
import PipelineCore
import PipelineHashes
import PipelinePlugins

/// A supported Digest challenge, which computes the Authorization for a request.
///
/// Source: RFC 7616 §3.4, https://www.rfc-editor.org/rfc/rfc7616.html#section-3.4
struct DigestChallenge: Sendable, Equatable {
    /// The hash function; later cases are stronger.
    enum Algorithm: Int, Sendable {
        case md5
        case sha256

        func hash(_ text: String) -> String {
            let bytes = Array(text.utf8)
            let hash = self == .md5 ? MD5.hash(bytes) : SHA256.hash(bytes)
            return hash.map { DigestChallenge.digits(of: $0) }.joined()
        }
    }

    /// The number of times that a nonce has been used, including this use.
    struct NonceUse: Sendable, Equatable {
        let nonce: String
        let clientNonce: String
        var count: UInt32
        /// The nonces of the first request after the challenge, which remain in the session key.
        var sessionNonce: String
        var sessionClientNonce: String

        /// Makes a use that continues the session of another, or begins one.
        init(nonce: String, clientNonce: String, count: UInt32, inSessionOf use: NonceUse? = nil) {
            self.nonce = nonce
            self.clientNonce = clientNonce
            self.count = count
            sessionNonce = use?.sessionNonce ?? nonce
            sessionClientNonce = use?.sessionClientNonce ?? clientNonce
        }
    }

    let realm: String
    let nonce: String
    let algorithm: Algorithm
    let isSession: Bool
    /// The algorithm's name; `nil` if the server sent none.
    let algorithmName: String?
    /// Whether Authorization has qop=auth; without it, the format of RFC 2069 is used.
    let hasQuality: Bool
    let hashesUsername: Bool
    let isStale: Bool
    let opaque: String?
    let domain: [String]

    /// Parses a challenge.
    ///
    /// - Returns: `nil` if the challenge is incomplete, is larger than 4 KiB, or has another algorithm or quality of
    ///   protection.
    init?(_ challenge: AuthenticationChallenge) {
        guard challenge.isScheme("Digest"), let realm = challenge.realm, let nonce = challenge["nonce"],
            challenge.parameters.values.reduce(0, { $0 + $1.utf8.count }) <= 4096
        else { return nil }
        let name = challenge["algorithm"]
        switch name?.lowercased() {
        case nil, "md5": (algorithm, isSession) = (.md5, false)
        case "md5-sess": (algorithm, isSession) = (.md5, true)
        case "sha-256": (algorithm, isSession) = (.sha256, false)
        case "sha-256-sess": (algorithm, isSession) = (.sha256, true)
        default: return nil
        }
        let qualities = (challenge["qop"] ?? "").lowercased().split { $0 == "," || $0 == " " || $0 == "\t" }
        hasQuality = qualities.contains("auth")
        // A session key needs the client's nonce, which is not sent without qop.
        guard hasQuality || (qualities.isEmpty && !isSession) else { return nil }
        algorithmName = name
        self.realm = realm
        self.nonce = nonce
        hashesUsername = challenge["userhash"]?.lowercased() == "true"
        isStale = challenge["stale"]?.lowercased() == "true"
        opaque = challenge["opaque"]
        domain = (challenge["domain"] ?? "").split(separator: " ").map(String.init)
    }

    /// Returns the value of Authorization.
    ///
    /// - Throws: `PipelineError` with code `invalidRequest.credential` for a control character.
    func authorization(
        _ credential: PasswordCredential,
        method: String,
        target: String,
        _ use: NonceUse
    ) throws -> String {
        try credential.requireNoControls()
        let username = credential.username.precomposedStringWithCanonicalMapping
        let password = credential.password.precomposedStringWithCanonicalMapping
        let digits = String(use.count, radix: 16)
        let count = String(repeating: "0", count: 8 - digits.count) + digits

        var key = algorithm.hash("\(username):\(realm):\(password)")
        if isSession { key = algorithm.hash("\(key):\(use.sessionNonce):\(use.sessionClientNonce)") }
        let request = algorithm.hash("\(method):\(target)")
        let middle = hasQuality ? "\(use.nonce):\(count):\(use.clientNonce):auth" : use.nonce

        var parts = namePart(username)
        parts.append("realm=" + Self.quoted(realm))
        parts.append("nonce=" + Self.quoted(use.nonce))
        parts.append("uri=" + Self.quoted(target))
        parts.append("response=\"\(algorithm.hash("\(key):\(middle):\(request)"))\"")
        if let algorithmName { parts.append("algorithm=" + algorithmName) }
        if hasQuality { parts.append("qop=auth, nc=\(count), cnonce=\"\(use.clientNonce)\"") }
        if let opaque { parts.append("opaque=" + Self.quoted(opaque)) }
        return "Digest " + parts.joined(separator: ", ")
    }

    /// A name that a quoted string cannot carry is sent as an extended parameter (RFC 7616 §3.4, RFC 8187 §3.2).
    private func namePart(_ username: String) -> [String] {
        if hashesUsername { return ["username=\"\(algorithm.hash("\(username):\(realm)"))\"", "userhash=true"] }
        if username.utf8.allSatisfy({ $0 < 0x80 }) { return ["username=" + Self.quoted(username)] }
        return ["username*=UTF-8''" + FormText.encoded(username)]
    }

    private static func digits(of byte: UInt8) -> String {
        (byte < 16 ? "0" : "") + String(byte, radix: 16)
    }

    private static func quoted(_ text: String) -> String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { quoted.unicodeScalars.append("\\") }
            quoted.unicodeScalars.append(scalar)
        }
        return quoted + "\""
    }
}
