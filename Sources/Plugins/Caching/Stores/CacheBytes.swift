import Foundation

/// The body of a stored response that is in memory.
struct CacheBytes: CacheBodyReader {
    let bytes: Data?

    init(_ bytes: Data) { self.bytes = bytes }

    func read(at offset: Int, upTo count: Int) async -> Data {
        Data((bytes ?? Data()).dropFirst(offset).prefix(count))
    }
}

extension Data {
    /// Returns bytes from the random number generator of the system.
    static func random(_ count: Int) -> Data {
        var generator = SystemRandomNumberGenerator()
        return Data((0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) })
    }
}
