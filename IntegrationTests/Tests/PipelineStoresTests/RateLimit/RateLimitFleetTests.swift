import Foundation
import PipelineResilience
import PipelineTesting
import Synchronization
import TestSupport
import Testing

/// Eight processes share a limit over Redis.
///
/// With `RATE_LIMIT_FLEET_SECONDS`, they run that long instead of 6 s, and Redis is killed, restarted and stopped in
/// between; see scripts/deep/rate-limit-fleet. Without, other tests run at the same time, so delays are longer.
@Suite(
    "RateLimitPlugin, a fleet over Redis",
    .enabled(if: LocalRedis.executable != nil, "redis-server is not installed"),
    .realTime,
    .watched
)
struct RateLimitFleetTests {
    private static let count = 200
    private static let period: Duration = .seconds(2)
    private static let seconds = ProcessInfo.processInfo.environment["RATE_LIMIT_FLEET_SECONDS"].flatMap { Int($0) }
    private static let (jitter, timeout, leastShare) = seconds == nil ? (200, 5_000, 0.8) : (80, 100, 0.95)

    /// The requests that arrived at the server.
    private final class Log: Sendable {
        private let arrivals = Mutex<[(moment: ContinuousClock.Instant, process: String)]>([])

        func add(_ process: String) { arrivals.withLock { $0.append((.now, process)) } }

        func moments(of process: String? = nil) -> [ContinuousClock.Instant] {
            arrivals.withLock { $0.filter { process == nil || $0.process == process }.map(\.moment) }
        }
    }

    /// Returns the highest number of moments in any period.
    private static func highestCount(_ moments: [ContinuousClock.Instant]) -> Int {
        var (first, highest) = (0, 0)
        for (last, moment) in moments.enumerated() {
            while moments[first] + period <= moment { first += 1 }
            highest = max(highest, last - first + 1)
        }
        return highest
    }

    private static func share(_ moments: [ContinuousClock.Instant]) -> Double {
        guard let first = moments.first, let last = moments.last, first < last else { return 0 }
        return Double(moments.count - 1) / Double(count) / ((last - first) / period)
    }

    private static func start(
        _ name: String,
        _ server: LoopbackServer,
        _ redis: LocalRedis,
        _ seconds: Int
    ) throws
        -> Process
    {
        var place = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent()
        while !FileManager.default.isExecutableFile(atPath: place.appending(path: "ratelimitworker").path),
            place.path.count > 1
        { place.deleteLastPathComponent() }
        let process = Process()
        process.executableURL = place.appending(path: "ratelimitworker")
        let numbers = [
            server.url.port ?? 0, redis.port, seconds, count, Int(period / .milliseconds(1)), jitter, timeout,
        ]
        process.arguments = [name] + numbers.map { "\($0)" }
        process.standardOutput = FileHandle.nullDevice
        try process.run(within: 280)
        return process
    }

    @Test("Eight processes never exceed the limit, and use nearly as much of it as is safe")
    func fleet() async throws {
        let log = Log()
        let server = try LoopbackServer { request in
            log.add(request.target)
            return [.respond(200)]
        }
        defer { server.stop() }
        try await LocalRedis.run { redis in
            let seconds = Self.seconds ?? 6
            let processes = try (0..<8).map { try Self.start("\($0)", server, redis, seconds) }
            defer { for process in processes where process.isRunning { process.terminate() } }
            // The moments between which Redis was available for long enough.
            var phases = [ContinuousClock.Instant.now]
            if Self.seconds != nil { try await Self.disturb(redis, for: seconds, &phases) }
            #expect(await becomesTrue { processes.allSatisfy { !$0.isRunning } })
            phases.append(.now)
            for index in stride(from: 0, to: phases.count, by: 2) {
                let moments = log.moments().filter { (phases[index]...phases[index + 1]).contains($0) }
                let (highest, share) = (Self.highestCount(moments), Self.share(moments))
                print("phase \(index / 2): \(moments.count) requests, at most \(highest) per period, \(share) used")
                #expect(highest <= Self.count)
                #expect(share >= Self.leastShare)
            }
            for name in 0..<8 {
                let moments = log.moments(of: "/\(name)")
                #expect(Self.highestCount(moments) <= Self.count)
                let gaps = zip(moments, moments.dropFirst()).map { $1 - $0 }
                #expect(gaps.max() ?? .seconds(99) < .seconds(5), "process \(name) stood still")
            }
        }
    }

    private static func pass(_ duration: Duration) async {
        let end = ContinuousClock.now + duration
        var pauses = Pauses()
        while ContinuousClock.now < end { await pauses.next() }
    }

    /// Kills, restarts and stops Redis.
    private static func disturb(
        _ redis: LocalRedis,
        for seconds: Int,
        _ phases: inout [ContinuousClock.Instant]
    ) async throws {
        // Each failure lasts a sixth of the time; after it, the pause of the client and one period pass.
        let sixth = Duration.seconds(seconds) / 6
        await pass(sixth)
        phases.append(.now)
        await redis.kill()
        await pass(sixth)
        try await redis.restart()
        await pass(.seconds(2) + period)
        phases.append(.now)
        await pass(sixth)
        phases.append(.now)
        redis.send(SIGSTOP)
        await pass(sixth)
        redis.send(SIGCONT)
        await pass(.seconds(2) + period)
        phases.append(.now)
    }
}
