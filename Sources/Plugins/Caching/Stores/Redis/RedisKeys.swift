#if Redis
@_spi(Stores) import PipelineRedis

/// The names of the keys of a store in Redis.
///
/// | key | value |
/// |---|---|
/// | `PREFIX:2:s` | the secret |
/// | `PREFIX:2:g`, `PREFIX:2:r:RESOURCE`, `PREFIX:2:a:ACCOUNT` | generations: 8 random bytes |
/// | `PREFIX:2:e:KEY` | a hash of the variants of a cache key: ids and ``RedisEntry`` |
/// | `PREFIX:2:b:TOKEN:NUMBER` | a piece of a body, of 256 KiB except for the last one |
/// | `PREFIX:2:l:KEY` | the token of the one who revalidates |
///
/// An entry is visible only while the generations that it was stored under are the current ones. The responses of a
/// resource or an account are removed by removing its generation: in one step, however many they are. If Redis evicts a
/// generation, its entries become unreachable; they cannot reappear, because the next generation is another one.
///
/// A lookup makes the generations that are missing. An entry is not published if one of them is missing or another one
/// by then, so that no response is stored whose request began before a removal, or before Redis has lost a generation.
struct RedisKeys: Sendable {
    let secret: String
    let generation: String
    private let base: String

    init(prefix: String) {
        // The number is the version of the layout.
        base = "\(prefix):2:"
        secret = base + "s"
        generation = base + "g"
    }

    func resource(_ resource: String) -> String { "\(base)r:\(resource)" }
    func account(_ account: String) -> String { "\(base)a:\(account)" }
    func entries(_ key: CacheKey) -> String { "\(base)e:\(Self.text(of: key))" }
    func lock(_ key: CacheKey) -> String { "\(base)l:\(Self.text(of: key))" }

    /// The beginning of the keys of pieces, before the token of a body.
    var pieces: String { base + "b:" }
    func piece(_ number: Int, of token: String) -> String { "\(base)b:\(token):\(number)" }

    /// The keys on which the entries of a key depend: their hash and the generations, in the order of the scripts.
    func keys(for key: CacheKey) -> [RedisRequest.Argument] {
        [.text(entries(key)), .text(generation), .text(resource(key.resource)), .text(account(key.account))]
    }

    /// Returns a text that no other key has, whatever characters the hashes contain.
    private static func text(of key: CacheKey) -> String {
        [key.resource, key.account, key.content].map { "\($0.utf8.count):\($0)" }.joined(separator: ",")
    }
}
#endif
