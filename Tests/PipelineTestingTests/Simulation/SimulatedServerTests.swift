import Foundation
import Pipeline
import PipelineResilience
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@Suite("SimulatedServer", .tags(.concurrent), .watched)
struct SimulatedServerTests {
    private let clock = ManualClock()

    /// What a call has received, and when.
    private struct Receipt: Sendable, Equatable {
        let sent: Duration
        let received: Duration
        var status: Int?
        var code: PipelineError.Code?
        var headers = HTTPFields()
    }

    private func provider(_ server: SimulatedServer) -> Provider<URLTarget> {
        Provider(transport: server, configuration: ProviderConfiguration(clock: clock, random: .seeded(1)))
    }

    /// Makes a call at each of the moments, each cancelled after its timeout, and returns their results in order.
    private func calls(
        _ server: SimulatedServer,
        at moments: [Duration],
        timeout: Duration = .seconds(86_400)
    ) async -> [Receipt] {
        let (clock, provider) = (clock, provider(server))
        return await clock.run {
            await withTaskGroup(of: (Int, Receipt).self) { group in
                for (index, moment) in moments.enumerated() {
                    group.addTask {
                        try? await clock.sleep(until: clock.origin.advanced(by: moment))
                        return (index, await Self.call(provider, on: clock, timeout: timeout))
                    }
                }
                var receipts: [Int: Receipt] = [:]
                for await (index, receipt) in group { receipts[index] = receipt }
                return moments.indices.compactMap { receipts[$0] }
            }
        }
    }

    private static func call(
        _ provider: Provider<URLTarget>,
        on clock: ManualClock,
        timeout: Duration
    ) async -> Receipt {
        let sent = clock.now.offset
        return await withTaskGroup(of: Receipt?.self) { group in
            group.addTask {
                do {
                    var target = URLTarget("https://a.test/")
                    target.validationType = .anyStatus
                    let response = try await provider.request(target)
                    return Receipt(
                        sent: sent,
                        received: clock.now.offset,
                        status: response.statusCode,
                        headers: response.headers
                    )
                } catch {
                    let code = (error as? PipelineError)?.code ?? .cancelled
                    return Receipt(sent: sent, received: clock.now.offset, code: code)
                }
            }
            group.addTask {
                try? await clock.sleep(for: timeout)
                return nil
            }
            var result: Receipt?
            for await receipt in group {
                if let receipt { result = receipt }
                group.cancelAll()
            }
            return result ?? Receipt(sent: sent, received: sent)
        }
    }

    @Test("Workers take requests in the order of arrival, as many at a time as there are workers")
    func queue() async {
        let server = SimulatedServer(on: clock, workers: 2, serviceTime: .constant(.milliseconds(10)))
        let receipts = await calls(server, at: Array(repeating: .zero, count: 5))
        #expect(receipts.map(\.received) == [10, 10, 20, 20, 30].map { .milliseconds($0) })
        #expect(receipts.allSatisfy { $0.status == 200 })
        #expect(server.arrivals == Array(repeating: .zero, count: 5))
        #expect(server.completions == receipts.map(\.received))
    }

    @Test("The server works on requests whose client has gone away, which it notices at once")
    func abandoned() async {
        let server = SimulatedServer(on: clock, workers: 1, serviceTime: .constant(.seconds(1)))
        let receipts = await calls(server, at: [.zero, .zero, .zero, .seconds(1)], timeout: .milliseconds(1_500))
        #expect(receipts.map(\.received) == [1_000, 1_500, 1_500, 2_500].map { .milliseconds($0) })
        #expect(receipts.map(\.code) == [nil, .cancelled, .cancelled, .cancelled])
        #expect(server.completions == [.seconds(1), .seconds(2)])
        clock.advance(by: .seconds(60))
        #expect(server.completions == (1...4).map { .seconds($0) })
    }

    @Test("A request that is cancelled on its way arrives nevertheless, not before its time")
    func cancelledOnTheWay() async {
        let server = SimulatedServer(on: clock, travelTime: .constant(.seconds(2)))
        _ = await calls(server, at: [.zero], timeout: .seconds(1))
        #expect(server.arrivals.isEmpty)
        clock.advance(by: .seconds(1))
        #expect(server.arrivals == [.seconds(2)])
        #expect(server.completions.isEmpty)
    }

    @Test("Requests and responses are on their way for a time of their own, and requests overtake others")
    func travelling() async {
        let server = SimulatedServer(
            on: clock,
            workers: 1_000,
            travelTime: .uniform(.milliseconds(5) ... .milliseconds(50))
        )
        let sent = (0..<500).map { Duration.milliseconds($0) }
        let receipts = await calls(server, at: sent)
        let ways = receipts.map { $0.received - $0.sent - .milliseconds(10) }
        #expect(ways.allSatisfy { $0 >= .milliseconds(10) && $0 <= .milliseconds(100) })
        #expect(Set(ways).count > 490)
        #expect(zip(server.arrivals, server.arrivals.dropFirst()).allSatisfy { $0 <= $1 })
        let delays = zip(server.arrivals, sent).map { $0 - $1 }
        #expect(delays.contains { $0 < .milliseconds(20) } && delays.contains { $0 > .milliseconds(30) })
        #expect(receipts.map(\.received) != receipts.map(\.received).sorted())
    }

    @Test("The quota is counted over every window, not over those that begin with a full second")
    func everyWindow() async {
        let server = SimulatedServer(on: clock, quota: 3)
        // Neither the first nor the second full second has more than 3, but from 0.7 to 1.7 s there are 4.
        let moments = [0, 700, 800, 1_200, 1_300, 2_200].map { Duration.milliseconds($0) }
        let receipts = await calls(server, at: moments)
        #expect(receipts.allSatisfy { $0.status == 200 })
        #expect(server.highestCount == 4)
        #expect(server.exceededCount == 1)
    }

    @Test("Requests that are exactly a window apart are not in the same window")
    func halfOpen() async {
        let server = SimulatedServer(on: clock, quota: 100)
        _ = await calls(server, at: (0..<300).map { .milliseconds(10 * $0) })
        #expect(server.highestCount == 100)
        #expect(server.exceededCount == 0)
    }

    @Test("Beyond an enforced quota, Retry-After is the time until the window has room, rounded up")
    func seconds() async {
        let server = SimulatedServer(on: clock, quota: 2, per: .seconds(10), refusal: .retryAfterSeconds)
        let moments = [0, 1_000, 2_500, 9_999, 10_000, 10_500].map { Duration.milliseconds($0) }
        let receipts = await calls(server, at: moments)
        #expect(receipts.map(\.status) == [200, 200, 429, 429, 200, 429])
        #expect(receipts.map { $0.headers[.retryAfter] } == [nil, nil, "8", "1", nil, "1"])
        // Refused requests do not use the quota, but they count.
        #expect(server.highestCount == 5)
        #expect(server.completions.count == 3)
    }

    @Test("A date in Retry-After follows the clock of the server, like its Date")
    func date() async {
        let server = SimulatedServer(
            on: clock,
            quota: 1,
            per: .seconds(10),
            refusal: .retryAfterDate,
            clockSkew: .seconds(-3_600)
        )
        let receipts = await calls(server, at: [.milliseconds(250), .milliseconds(2_500)])
        #expect(receipts.last?.headers[.date] == "Wed, 31 Dec 2025 23:00:02 GMT")
        #expect(receipts.last?.headers[.retryAfter] == "Wed, 31 Dec 2025 23:00:11 GMT")
        #expect(receipts.first?.headers[.date] == nil)
    }

    @Test("RateLimit fields report the rest of the quota in every response")
    func fields() async throws {
        let server = SimulatedServer(on: clock, quota: 2, per: .seconds(10), refusal: .rateLimitFields)
        let receipts = await calls(server, at: [0, 1, 2].map { .seconds($0) })
        let rest = try #require(HTTPField.Name("RateLimit"))
        let policy = try #require(HTTPField.Name("RateLimit-Policy"))
        #expect(receipts.map(\.status) == [200, 200, 429])
        let lines = [#""default";r=1;t=10"#, #""default";r=0;t=9"#, #""default";r=0;t=8"#]
        #expect(receipts.map { $0.headers[rest] } == lines)
        #expect(receipts.allSatisfy { $0.headers[policy] == #""default";q=2;w=10"# && $0.headers[.retryAfter] == nil })
    }

    @Test("During an outage, requests meet its step, take no worker and use no quota")
    func outages() async {
        let server = SimulatedServer(
            on: clock,
            workers: 1,
            serviceTime: .constant(.seconds(1)),
            quota: 1,
            outages: [
                .seconds(10) ..< .seconds(20): .failure(.connect(.refused)),
                .seconds(20) ..< .seconds(30): .status(503),
                .seconds(30) ..< .seconds(40): .hang,
            ]
        )
        let moments = [9.5, 10, 19, 20, 20.1, 30, 39, 40].map { Duration.seconds($0) }
        let receipts = await calls(server, at: moments, timeout: .seconds(5))
        let refused = PipelineError.Code.connect(.refused)
        #expect(receipts.map(\.code) == [nil, refused, refused, nil, nil, .cancelled, .cancelled, nil])
        #expect(receipts.map(\.status) == [200, nil, nil, 503, 503, nil, nil, 200])
        #expect(receipts.map { $0.received - $0.sent } == [1, 0, 0, 0, 0, 5, 5, 1].map { .seconds($0) })
        #expect(server.arrivals == moments)
        #expect(server.completions == [.seconds(10.5), .seconds(41)])
        #expect(server.highestCount == 1)
    }

    @Test("The number of workers changes at its moment, and workers that leave complete their work")
    func capacity() async {
        let server = SimulatedServer(
            on: clock,
            workers: 4,
            workersLater: [.milliseconds(500): 2, .seconds(3): 0, .seconds(10): 8],
            serviceTime: .constant(.seconds(1))
        )
        let receipts = await calls(server, at: Array(repeating: .zero, count: 16))
        let seconds = [1, 1, 1, 1, 2, 2, 3, 3, 11, 11, 11, 11, 11, 11, 11, 11]
        #expect(receipts.map(\.received) == seconds.map { .seconds($0) })
    }

    @Test("A server without workers never responds, and cancellation ends the wait")
    func noWorkers() async {
        let server = SimulatedServer(on: clock, workers: 0)
        let receipts = await calls(server, at: [.zero], timeout: .seconds(7))
        #expect(receipts.map(\.code) == [.cancelled])
        #expect(receipts.map(\.received) == [.seconds(7)])
    }

    @Test("The same seed repeats a run, and another one does not")
    func seeds() async {
        func run(_ seed: UInt64) async -> [Duration] {
            let clock = ManualClock()
            let server = SimulatedServer(
                on: clock,
                serviceTime: .exponential(mean: .milliseconds(20)).slow(0.1, by: .seconds(1)),
                travelTime: .uniform(.zero ... .milliseconds(30)),
                seed: seed
            )
            let provider = Provider<URLTarget>(
                transport: server,
                configuration: ProviderConfiguration(clock: clock, random: .seeded(1))
            )
            await clock.run {
                await withTaskGroup(of: Void.self) { group in
                    for _ in 0..<300 {
                        group.addTask { _ = try? await provider.request(URLTarget("https://a.test/")) }
                    }
                }
            }
            return server.completions
        }
        let first = await run(5)
        #expect(first.count == 300)
        #expect(await run(5) == first)
        #expect(await run(6) != first)
    }

    @Test("The response can be a step that looks at the request")
    func response() async throws {
        let server = SimulatedServer(
            on: clock,
            response: .answer { request, _ in
                PipelineResponse(request: request, statusCode: request.path == "/a" ? 204 : 404)
            }
        )
        let (clock, provider) = (clock, provider(server))
        let status = try await clock.run { try await provider.request(URLTarget("https://a.test/a")).statusCode }
        #expect(status == 204)
        #expect(clock.now.offset == .milliseconds(10))
    }
}
