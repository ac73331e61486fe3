import Foundation
import Pipeline
import PipelineHashes
import PipelineTesting
import Synchronization

@testable import PipelineAuth

/// A strict Digest server, which checks the response and that no use count of a nonce repeats.
final class DigestServer: Sendable {
    struct Behaviour: Sendable {
        var user = "Mufasa"
        var password = "Circle of Life"
        var realm = "r"
        var algorithm: String? = "SHA-256"
        var more = ""
        /// The number of uses after which a nonce is stale.
        var usesPerNonce = Int.max
        /// Whether every challenge has a new nonce, rather than the last one that is not used up.
        var hasFreshNonces = false
        /// Whether a response names the next nonce.
        var namesNextNonce = false
        /// Whether every nonce is stale.
        var isAlwaysStale = false
    }

    struct State: Sendable {
        var nonces: [String: Set<UInt32>] = [:]
        /// For each nonce, the one of the challenge and that of the client after it, which are in the session key.
        var sessions: [String: String] = [:]
        var current: String?
        var challengeCount = 0
        var acceptedCount = 0
        var repeated: [String] = []
    }

    private let behaviour: Behaviour
    private let state = Mutex(State())

    init(_ behaviour: Behaviour = Behaviour()) {
        self.behaviour = behaviour
    }

    var seen: State { state.withLock { $0 } }

    /// Returns the status and the header field for it.
    func answer(_ request: PipelineRequest) -> (status: Int, fields: HTTPFields) {
        answer(method: request.method.rawValue, target: request.head.path ?? "", request.headers[.authorization])
    }

    func answer(method: String, target: String, _ authorization: String?) -> (status: Int, fields: HTTPFields) {
        state.withLock { state in
            guard let authorization,
                let answer = AuthenticationChallenge.challenges(in: [.wwwAuthenticate: authorization]).first,
                answer.isScheme("Digest"), answer["uri"] == target, let nonce = answer["nonce"],
                case let session = state.sessions[nonce] ?? "\(nonce):\(answer["cnonce"] ?? "")",
                answer["response"] == response(to: answer, method, session)
            else { return (401, challenge(&state, isStale: false)) }
            state.sessions[nonce] = session
            guard let used = state.nonces[nonce], used.count < behaviour.usesPerNonce, !behaviour.isAlwaysStale else {
                if state.current == nonce { state.current = nil }
                return (401, challenge(&state, isStale: true))
            }
            let count = UInt32(answer["nc"] ?? "", radix: 16) ?? 0
            if used.contains(count) || count == 0 { state.repeated.append("\(nonce) \(count)") }
            state.nonces[nonce]?.insert(count)
            state.acceptedCount += 1
            guard behaviour.namesNextNonce, let name = HTTPField.Name("Authentication-Info") else { return (200, [:]) }
            let next = makeNonce(&state)
            state.sessions[next] = session
            return (200, [name: "qop=auth, nextnonce=\"\(next)\", rspauth=\"\""])
        }
    }

    private func makeNonce(_ state: inout State) -> String {
        let nonce = "n\(state.nonces.count + 1)"
        state.nonces[nonce] = []
        state.current = nonce
        return nonce
    }

    private func challenge(_ state: inout State, isStale: Bool) -> HTTPFields {
        state.challengeCount += 1
        let nonce = behaviour.hasFreshNonces ? makeNonce(&state) : state.current ?? makeNonce(&state)
        state.sessions[nonce] = nil
        var value = "Digest realm=\"\(behaviour.realm)\", nonce=\"\(nonce)\", qop=\"auth\""
        if let algorithm = behaviour.algorithm { value += ", algorithm=" + algorithm }
        if isStale { value += ", stale=TRUE" }
        return [.wwwAuthenticate: value + behaviour.more]
    }

    private func response(to answer: AuthenticationChallenge, _ method: String, _ session: String) -> String {
        let isSHA = behaviour.algorithm?.hasPrefix("SHA") == true
        func hash(_ text: String) -> String {
            (isSHA ? SHA256.hash(Array(text.utf8)) : MD5.hash(Array(text.utf8)))
                .map { String(UInt16(0x100) + UInt16($0), radix: 16).dropFirst() }.joined()
        }
        func part(_ name: String) -> String { answer[name] ?? "" }
        var key = hash("\(behaviour.user):\(behaviour.realm):\(behaviour.password)")
        if behaviour.algorithm?.hasSuffix("-sess") == true { key = hash("\(key):\(session)") }
        let middle = "\(part("nonce")):\(part("nc")):\(part("cnonce")):\(part("qop"))"
        return hash("\(key):\(middle):\(hash("\(method):\(part("uri"))"))")
    }
}

extension ScriptedTransport {
    /// Responds as the server does.
    convenience init(_ server: DigestServer) {
        self.init { request, _ in
            let (status, fields) = server.answer(request)
            return .status(status, headers: fields)
        }
    }
}
