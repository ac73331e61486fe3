import Foundation
import Pipeline
import TestSupport
import Testing

@testable import PipelineAuth

@Suite("ProtectionSpaces", .watched)
struct ProtectionSpacesTests {
    private func request(_ url: String) throws -> PipelineRequest { try PipelineRequest(url: url) }

    private func challenge(_ value: String) throws -> AnswerableChallenge {
        let challenges = AuthenticationChallenge.challenges(in: [.wwwAuthenticate: value])
        return try #require(challenges.first.flatMap { AnswerableChallenge($0) })
    }

    private func reached(_ spaces: ProtectionSpaces, _ urls: [String]) throws -> [String] {
        try urls.filter { spaces.space(of: try request($0)) != nil }
    }

    @Test("A Basic space covers the paths at or below the last slash; a Digest space covers the origin")
    func reach() throws {
        let urls = ["https://a.test/x/y", "https://a.test/x/", "https://a.test/x/y/z?q", "https://A.test:443/x/b"]
        let others = ["https://a.test/x", "https://a.test/", "https://a.test/xx/y"]
        let strangers = ["https://b.test/x/y", "http://a.test/x/y", "https://a.test:444/x/y", "https://a.test.b/x/y"]
        for (value, expected) in [("Basic realm=r", urls), ("Digest realm=r, nonce=n", urls + others)] {
            var spaces = ProtectionSpaces(maximumCount: 8)
            spaces.admit(try challenge(value), to: try request("https://a.test/x/b?q"))
            #expect(try reached(spaces, urls + others + strangers) == expected)
        }
    }

    @Test("A domain covers the paths that it names on its own origin, and none on another")
    func domain() throws {
        var spaces = ProtectionSpaces(maximumCount: 8)
        let value = #"Digest realm=r, nonce=n, domain="/a https://a.test/b https://b.test/ //c.test/ d ::""#
        spaces.admit(try challenge(value), to: try request("https://a.test/x"))
        let urls = ["https://a.test/a", "https://a.test/ab/c", "https://a.test/b?x", "https://a.test/x"]
        let others = ["https://b.test/", "https://c.test/", "https://a.test/d", "http://a.test/a"]
        #expect(try reached(spaces, urls + others) == Array(urls.prefix(3)))
        spaces.admit(
            try challenge(#"Digest realm=r, nonce=n, domain="https://b.test/""#),
            to: try request("https://a.test/x")
        )
        #expect(try reached(spaces, urls + others) == [])
    }

    @Test("If several spaces match, the one with the longest path prefix is used")
    func longest() throws {
        var spaces = ProtectionSpaces(maximumCount: 8)
        spaces.admit(try challenge("Basic realm=inner"), to: try request("https://a.test/x/y/z"))
        spaces.admit(try challenge("Basic realm=outer"), to: try request("https://a.test/x/y"))
        #expect(try spaces.space(of: request("https://a.test/x/y/1"))?.key.realm == "inner")
        #expect(try spaces.space(of: request("https://a.test/x/1"))?.key.realm == "outer")
        #expect(try spaces.space(of: request("https://a.test/1"))?.key.realm == nil)
    }

    @Test("The paths of a Basic space accumulate, and beyond 16 the oldest is dropped")
    func prefixes() throws {
        var spaces = ProtectionSpaces(maximumCount: 8)
        for number in 0...16 {
            spaces.admit(try challenge("Basic realm=r"), to: try request("https://a.test/\(number)/"))
        }
        #expect(try reached(spaces, ["https://a.test/0/x", "https://a.test/1/x", "https://a.test/16/x"]).count == 2)
        #expect(spaces.spaces.count == 1)
    }

    @Test("A nonce that returns keeps its use count and its client nonce")
    func nonceReturns() throws {
        var spaces = ProtectionSpaces(maximumCount: 8)
        let place = try request("https://a.test/")
        let key = ProtectionSpaces.Key(origin: place.origin, realm: "r")
        var uses: [DigestChallenge.NonceUse?] = []
        for (nonce, clientNonce) in [("n1", "c1"), ("n2", "c2"), ("n1", "c3"), (nil, "c4"), ("n2", "c5")] {
            if let nonce { spaces.admit(try challenge("Digest realm=r, nonce=\(nonce)"), to: place) }
            uses.append(spaces.use(key, nonce: nonce, clientNonce: clientNonce))
        }
        #expect(
            uses == [
                .init(nonce: "n1", clientNonce: "c1", count: 1), .init(nonce: "n2", clientNonce: "c2", count: 1),
                .init(nonce: "n1", clientNonce: "c1", count: 2), .init(nonce: "n1", clientNonce: "c1", count: 3),
                .init(nonce: "n2", clientNonce: "c2", count: 2),
            ]
        )
        // The next nonce is in the same session, until a challenge begins another with it.
        spaces.setNext("n3", in: key, clientNonce: "c6")
        let next = spaces.use(key, nonce: nil, clientNonce: "c7")
        #expect(next == .init(nonce: "n3", clientNonce: "c6", count: 1, inSessionOf: uses[1]))
        spaces.admit(try challenge("Digest realm=r, nonce=n3"), to: place)
        let another = spaces.use(key, nonce: "n3", clientNonce: "c8")
        #expect(another == .init(nonce: "n3", clientNonce: "c6", count: 2))
    }

    @Test("A dropped space returns a first use for a given nonce, and no use without one")
    func gone() throws {
        var spaces = ProtectionSpaces(maximumCount: 1)
        let key = ProtectionSpaces.Key(origin: try request("https://a.test/").origin, realm: "r")
        #expect(spaces.use(key, nonce: "n", clientNonce: "c") == .init(nonce: "n", clientNonce: "c", count: 1))
        #expect(spaces.use(key, nonce: nil, clientNonce: "c") == nil)
        spaces.setNext("n", in: key, clientNonce: "c")
        #expect(spaces.spaces.isEmpty)
    }

    /// A simpler model of the state: the use count of each nonce, and the realms by last use.
    private struct Model {
        var counts: [String: (clientNonce: String, count: UInt32)] = [:]
        var order: [String] = []

        mutating func touch(_ realm: String) {
            order.removeAll { $0 == realm }
            order.append(realm)
        }
    }

    @Test("A06 In 100,000 random steps, each nonce counts up by one and keeps its client nonce, and the bounds hold")
    func model() async throws {
        var random = PipelineRandom.seeded(7_616)
        var spaces = ProtectionSpaces(maximumCount: 4)
        var model = Model()
        let place = try request("https://a.test/")
        let origin = place.origin
        let challenges = try (0..<6).map { realm in
            try (0..<12).map { try challenge("Digest realm=r\(realm), nonce=n\(realm).\($0)") }
        }
        for step in 0..<100_000 {
            let realm = Int.random(in: 0..<6, using: &random)
            let key = ProtectionSpaces.Key(origin: origin, realm: "r\(realm)")
            let number = Int.random(in: 0..<12, using: &random)
            let isKnown = model.order.contains(key.realm)
            switch Int.random(in: 0..<4, using: &random) {
            case 0:
                spaces.admit(challenges[realm][number], to: place)
                model.touch(key.realm)
                if model.order.count > 4 {
                    let evicted = model.order.removeFirst()
                    model.counts = model.counts.filter { !$0.key.hasPrefix("n\(evicted.dropFirst()).") }
                }
            case 1 where isKnown:
                spaces.setNext("n\(realm).\(number)", in: key, clientNonce: "c\(step)")
                if model.counts["n\(realm).\(number)"] == nil { model.counts["n\(realm).\(number)"] = ("c\(step)", 0) }
            default:
                let nonce = Bool.random(using: &random) ? "n\(realm).\(number)" : nil
                let use = spaces.use(key, nonce: nonce, clientNonce: "c\(step)")
                guard isKnown else {
                    try #require(use?.count == nonce.map { _ in 1 })
                    continue
                }
                let taken = try #require(use)
                try #require(nonce == nil || taken.nonce == nonce)
                let known = model.counts[taken.nonce] ?? ("c\(step)", 0)
                try #require(taken.count == known.count + 1 && taken.clientNonce == known.clientNonce)
                model.counts[taken.nonce] = (taken.clientNonce, taken.count)
                model.touch(key.realm)
            }
            try #require(spaces.spaces.map(\.key.realm) == model.order)
            try #require(spaces.spaces.allSatisfy { $0.uses.count <= ProtectionSpaces.nonceCount })
            if step % 5_000 == 0 { await Task.yield() }
        }
    }

    @Test("Beyond 16 nonces in a space, the least recently used one is forgotten")
    func nonceBound() throws {
        var spaces = ProtectionSpaces(maximumCount: 1)
        let place = try request("https://a.test/")
        let key = ProtectionSpaces.Key(origin: place.origin, realm: "r")
        spaces.admit(try challenge("Digest realm=r, nonce=n"), to: place)
        for number in 0..<17 {
            _ = spaces.use(key, nonce: "n\(number)", clientNonce: "c")
            _ = spaces.use(key, nonce: "n0", clientNonce: "c")
        }
        #expect(spaces.spaces.first?.uses.count == 16)
        #expect(spaces.use(key, nonce: "n0", clientNonce: "c")?.count == 19)
        #expect(spaces.use(key, nonce: "n1", clientNonce: "c")?.count == 1)
    }
}
