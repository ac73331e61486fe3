import Foundation
import Pipeline
import PipelineResilience

#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

/// One of the processes that share a rate limit over Redis.
///
/// usage: `ratelimitworker NAME SERVER-PORT REDIS-PORT SECONDS COUNT PERIOD JITTER TIMEOUT`, the last three in
/// milliseconds
///
/// Twenty tasks make calls without a pause until the time is over. Prints the numbers of successes and failures.
@main
enum RateLimitWorker {
    static func main() async {
        let numbers = CommandLine.arguments.dropFirst(2).compactMap { Int($0) }
        guard numbers.count == 7, let server = URL(string: "http://127.0.0.1:\(numbers[0])") else { exit(2) }
        do {
            let limit = RateLimit(
                numbers[3],
                per: .milliseconds(numbers[4]),
                jitter: .milliseconds(numbers[5])
            )
            let store = RedisRateLimitStore(try RedisServer(port: numbers[1]), timeout: .milliseconds(numbers[6]))
            let provider = Provider<URLTarget>(
                transport: URLSessionTransport(),
                plugins: [RateLimitPlugin(limit, partition: .shared, store: store)]
            )
            let end = ContinuousClock.now + .seconds(numbers[2])
            let url = server.appending(path: CommandLine.arguments[1]).absoluteString
            let (done, failed) = await calls(provider, url, until: end)
            print("\(done) \(failed)")
        } catch {
            print("failed: \(error)")
            exit(1)
        }
    }

    private static func calls(
        _ provider: Provider<URLTarget>,
        _ url: String,
        until end: ContinuousClock.Instant
    ) async -> (Int, Int) {
        await withTaskGroup(of: (Int, Int).self) { group in
            for _ in 0..<20 {
                group.addTask {
                    var (done, failed) = (0, 0)
                    while ContinuousClock.now < end {
                        do {
                            _ = try await provider.request(URLTarget(url))
                            done += 1
                        } catch {
                            failed += 1
                        }
                    }
                    return (done, failed)
                }
            }
            return await group.reduce(into: (0, 0)) { $0 = ($0.0 + $1.0, $0.1 + $1.1) }
        }
    }
}
