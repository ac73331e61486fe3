import Pipeline

/// The challenges that have been answered, and how often each of their nonces was used; no credential.
///
/// A pure value. The space used least recently goes when there are too many; so does, within a space, the oldest nonce.
struct ProtectionSpaces: Sendable {
    /// A server and the accounts that it means.
    struct Key: Sendable, Hashable {
        let origin: PipelineRequest.Origin
        let realm: String
    }

    struct Space: Sendable {
        let key: Key
        fileprivate(set) var challenge: AnswerableChallenge
        /// What the paths begin with that the challenge also holds for.
        fileprivate(set) var prefixes: [String]
        /// The last one is that of the next answer.
        fileprivate(set) var uses: [DigestChallenge.NonceUse] = []

        /// The length of the longest prefix of a path, `nil` when there is none.
        fileprivate func reach(_ path: String) -> Int? {
            prefixes.filter { path.hasPrefix($0) }.map(\.utf8.count).max()
        }
    }

    static let nonceCount = 16
    static let prefixCount = 16

    private let maximumCount: Int
    /// The one used last at the end.
    private(set) var spaces: [Space] = []

    init(maximumCount: Int) {
        self.maximumCount = maximumCount
    }

    /// The space in which a request lies: of several the one that names most of its path.
    func space(of request: PipelineRequest) -> Space? {
        let origin = request.origin
        var found: (space: Space, reach: Int)?
        for space in spaces.reversed() where space.key.origin == origin {
            guard let reach = space.reach(request.path), reach > found?.reach ?? -1 else { continue }
            found = (space, reach)
        }
        return found?.space
    }

    /// Takes in a challenge to a request.
    mutating func admit(_ challenge: AnswerableChallenge, to request: PipelineRequest) {
        let key = Key(origin: request.origin, realm: challenge.realm)
        let prefixes = Self.prefixes(of: challenge, to: request, key.origin)
        var space = Space(key: key, challenge: challenge, prefixes: prefixes)
        if let index = spaces.firstIndex(where: { $0.key == key }) {
            let known = spaces.remove(at: index)
            space.uses = known.uses
            if challenge.digest == nil, known.challenge.digest == nil {
                space.prefixes = (known.prefixes.filter { !prefixes.contains($0) } + prefixes).suffix(Self.prefixCount)
            }
        }
        spaces.append(space)
        if spaces.count > maximumCount { spaces.removeFirst() }
    }

    /// Counts one more use of a nonce in a space.
    ///
    /// - Parameters:
    ///   - key: the space; when it is gone, the use is the first.
    ///   - nonce: the nonce, `nil` for the one of the next answer, or else that of the space's challenge.
    ///   - clientNonce: the client's nonce, for a nonce that is new: one nonce keeps one, so that a session key holds.
    /// - Returns: the use, `nil` when no nonce is known.
    mutating func use(_ key: Key, nonce: String?, clientNonce: String) -> DigestChallenge.NonceUse? {
        guard let index = spaces.firstIndex(where: { $0.key == key }) else {
            return nonce.map { .init(nonce: $0, clientNonce: clientNonce, count: 1) }
        }
        var space = spaces.remove(at: index)
        defer { spaces.append(space) }
        guard let nonce = nonce ?? space.uses.last?.nonce ?? space.challenge.digest?.nonce else { return nil }
        space.setCurrent(nonce, clientNonce)
        space.uses[space.uses.count - 1].count &+= 1
        return space.uses.last
    }

    /// Takes the nonce that the server wants next.
    mutating func setNext(_ nonce: String, in key: Key, clientNonce: String) {
        guard let index = spaces.firstIndex(where: { $0.key == key }) else { return }
        spaces[index].setCurrent(nonce, clientNonce)
    }

    private static func prefixes(
        of challenge: AnswerableChallenge,
        to request: PipelineRequest,
        _ origin: PipelineRequest.Origin
    ) -> [String] {
        guard let digest = challenge.digest else {
            // RFC 7617 §2.2: all paths at or below the last slash.
            return [String(request.path[...(request.path.lastIndex(of: "/") ?? request.path.startIndex)])]
        }
        guard !digest.domain.isEmpty else { return [""] }
        let paths = digest.domain.compactMap { place -> String? in
            if place.hasPrefix("/"), !place.hasPrefix("//") { return place }
            guard let other = try? PipelineRequest(url: place), other.origin == origin else {
                return nil
            }
            return other.path
        }
        return paths.suffix(prefixCount)
    }
}

extension ProtectionSpaces.Space {
    fileprivate mutating func setCurrent(_ nonce: String, _ clientNonce: String) {
        if let index = uses.firstIndex(where: { $0.nonce == nonce }) {
            uses.append(uses.remove(at: index))
        } else {
            uses.append(.init(nonce: nonce, clientNonce: clientNonce, count: 0))
            if uses.count > ProtectionSpaces.nonceCount { uses.removeFirst() }
        }
    }
}
