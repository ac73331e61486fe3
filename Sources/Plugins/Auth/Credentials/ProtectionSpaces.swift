import PipelineCore

/// The challenges handled so far, and the use counts of their nonces, without credentials.
///
/// A pure value. If there are too many spaces, the least recently used one is dropped; within a space, the oldest
/// nonce.
struct ProtectionSpaces: Sendable {
    /// An origin and a realm on it.
    struct Key: Sendable, Hashable {
        let origin: PipelineRequest.Origin
        let realm: String
    }

    struct Space: Sendable {
        let key: Key
        fileprivate(set) var challenge: AnswerableChallenge
        /// The prefixes of the paths that the challenge covers.
        fileprivate(set) var prefixes: [String]
        /// The last one is used for the next request.
        fileprivate(set) var uses: [DigestChallenge.NonceUse] = []

        /// Returns the length of the longest prefix that matches a path; `nil` if none does.
        fileprivate func reach(_ path: String) -> Int? {
            prefixes.filter { path.hasPrefix($0) }.map(\.utf8.count).max()
        }
    }

    static let nonceCount = 16
    static let prefixCount = 16

    private let maximumCount: Int
    /// The most recently used one is last.
    private(set) var spaces: [Space] = []

    init(maximumCount: Int) {
        self.maximumCount = maximumCount
    }

    /// Returns the space of a request.
    ///
    /// If several match, it is the one with the longest prefix of the path.
    func space(of request: PipelineRequest) -> Space? {
        let origin = request.origin
        var found: (space: Space, reach: Int)?
        for space in spaces.reversed() where space.key.origin == origin {
            guard let reach = space.reach(request.path), reach > found?.reach ?? -1 else { continue }
            found = (space, reach)
        }
        return found?.space
    }

    /// Adds or updates the space of a challenge to a request.
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

    /// Counts another use of a nonce in a space.
    ///
    /// - Parameters:
    ///   - key: the space. If it has been dropped, the use is the first.
    ///   - nonce: the nonce of a challenge, which begins a session; `nil` for the next one in turn, or else that of the
    ///     space's challenge.
    ///   - clientNonce: the client's nonce for a new nonce. A nonce keeps its client nonce, so that a session key stays
    ///     valid.
    /// - Returns: the use; `nil` if no nonce is known.
    mutating func use(_ key: Key, nonce: String?, clientNonce: String) -> DigestChallenge.NonceUse? {
        guard let index = spaces.firstIndex(where: { $0.key == key }) else {
            return nonce.map { .init(nonce: $0, clientNonce: clientNonce, count: 1) }
        }
        var space = spaces.remove(at: index)
        defer { spaces.append(space) }
        guard let current = nonce ?? space.uses.last?.nonce ?? space.challenge.digest?.nonce else { return nil }
        space.setCurrent(current, clientNonce)
        let last = space.uses.count - 1
        space.uses[last].count &+= 1
        if let nonce {
            space.uses[last].sessionNonce = nonce
            space.uses[last].sessionClientNonce = space.uses[last].clientNonce
        }
        return space.uses[last]
    }

    /// Stores the nonce that the server wants next, in the session of the current one.
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
            uses.append(.init(nonce: nonce, clientNonce: clientNonce, count: 0, inSessionOf: uses.last))
            if uses.count > ProtectionSpaces.nonceCount { uses.removeFirst() }
        }
    }
}
