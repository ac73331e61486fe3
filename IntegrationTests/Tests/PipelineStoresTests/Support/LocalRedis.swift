import Foundation
import PipelineCaching
@_spi(Stores) import PipelineRedis
import TestSupport

/// A `redis-server` of its own on a free port of 127.0.0.1, which keeps nothing on disk.
///
/// `@unchecked Sendable`: a test uses it in one task at a time.
final class LocalRedis: @unchecked Sendable {
    struct StartFailure: Error, CustomStringConvertible {
        /// One sentence: what did not happen.
        let description: String
    }

    static let executable = ["/usr/bin", "/usr/local/bin", "/opt/homebrew/bin"]
        .map { $0 + "/redis-server" }
        .first { FileManager.default.isExecutableFile(atPath: $0) }

    private let folder = FileManager.default.temporaryDirectory.appending(path: "redis-\(UUID().uuidString)")
    private let arguments: [String]
    private var process = Process()
    private(set) var port = 0
    private var client: RedisClient?

    private init(_ arguments: [String]) throws {
        self.arguments = arguments
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// Runs a test with a server, which ends after it.
    static func run(_ arguments: [String] = [], _ test: (LocalRedis) async throws -> Void) async throws {
        let redis = try LocalRedis(arguments)
        defer { if redis.process.isRunning { redis.send(SIGKILL) } }
        for attempt in 1...5 {
            do {
                try await redis.start(port: freePort())
                break
            } catch  where attempt < 5 {
                // Another process has taken the port since it was free.
                await redis.kill()
            }
        }
        try await test(redis)
    }

    // MARK: Process

    /// Starts the server, and waits until it accepts connections.
    func start(port: Int) async throws {
        guard let executable = Self.executable else {
            throw StartFailure(description: "redis-server is not installed; run scripts/setup all.")
        }
        self.port = port
        client = RedisClient(try RedisServer(port: port), timeout: .seconds(30))
        process = Process()
        process.executableURL = URL(filePath: executable)
        process.arguments =
            ["--port", "\(port)", "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", folder.path]
            + arguments
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run(within: 280)
        let process = process
        let isReady = await becomesTrue {
            guard process.isRunning else { return true }
            do {
                _ = try await RedisClient(RedisServer(port: port), timeout: .seconds(5)).send(RedisRequest(["PING"]))
                return true
            } catch let error as RedisError {
                return error.code == .notAllowed
            }
        }
        guard process.isRunning else {
            throw StartFailure(description: "redis-server on port \(port) ended with \(process.terminationStatus).")
        }
        guard isReady else {
            throw StartFailure(description: "redis-server on port \(port) accepted no connection within 20 s.")
        }
    }

    /// Starts the server again after it was killed.
    func restart() async throws { try await start(port: port) }

    /// Ends the server at once, and waits for that.
    func kill() async {
        let process = process
        guard process.isRunning else { return }
        send(SIGKILL)
        _ = await becomesTrue { !process.isRunning }
    }

    func send(_ signal: Int32) { _ = Foundation.kill(process.processIdentifier, signal) }

    private static func freePort() throws -> Int {
        #if canImport(Darwin)
        let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #else
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #endif
        defer { _ = close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(descriptor, pointer, length) == 0 ? getsockname(descriptor, pointer, &length) : -1
            }
        }
        guard result == 0 else { throw StartFailure(description: "No port of 127.0.0.1 is free; errno is \(errno).") }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    // MARK: Content

    @discardableResult
    func command(_ arguments: String...) async throws -> RedisReply { try await command(arguments) }

    @discardableResult
    func command(_ arguments: [String]) async throws -> RedisReply {
        let request = RedisRequest(arguments.map { .text($0) })
        return try await client?.send(request).first ?? .null
    }

    /// The names of the keys that contain a text.
    func keys(containing text: String = "") async throws -> [String] {
        let names = try await command("KEYS", "*\(text)*").array ?? []
        return names.compactMap { $0.string.map { String(decoding: $0, as: UTF8.self) } }.sorted()
    }

    func timeToLive(_ key: String) async throws -> Int { try await command("TTL", key).integer ?? -3 }

    func store(
        password: (@Sendable () async throws -> String)? = nil,
        username: String? = nil,
        prefix: String = "test",
        timeToLive: Duration = .seconds(3_600),
        maximumBodyByteCount: Int = 8 << 20,
        timeout: Duration = .seconds(30)
    ) throws -> RedisCacheStore {
        RedisCacheStore(
            try RedisServer(port: port, username: username, password: password),
            prefix: prefix,
            timeToLive: timeToLive,
            maximumBodyByteCount: maximumBodyByteCount,
            timeout: timeout
        )
    }
}

/// Waits until a condition is met, for at most 20 s; returns whether it was.
func becomesTrue(_ condition: () async throws -> Bool) async -> Bool {
    let end = ContinuousClock.now + .seconds(20)
    var pauses = Pauses()
    while ContinuousClock.now < end {
        if (try? await condition()) == true { return true }
        await pauses.next()
    }
    return false
}
