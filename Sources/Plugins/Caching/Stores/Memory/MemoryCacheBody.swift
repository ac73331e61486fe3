import Foundation

/// The body of a response in memory.
struct MemoryCacheBody: CacheBodyReader {
    private let body: Data

    init(_ body: Data) { self.body = body }

    var bytes: Data? { body }

    func read(at offset: Int, upTo count: Int) async -> Data {
        Data(body.dropFirst(offset).prefix(count))
    }
}
