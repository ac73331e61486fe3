import Foundation
import Pipeline
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@testable import PipelinePlugins
@testable import PipelineResilience

@Suite("Partitions", .watched)
struct TrafficPartitionTests {
    private final class Item: PartitionObject {
        private let idleMoment: PipelineClock.Instant?
        /// Makes an object that is idle from a moment on; never if that is `nil`.
        init(idleFrom moment: PipelineClock.Instant?) { idleMoment = moment }
        func isIdle(at now: PipelineClock.Instant) -> Bool { idleMoment.map { $0 <= now } ?? false }
    }

    /// Returns the keys of requests to URLs.
    private func keys(_ partition: TrafficPartition, _ urls: String...) async throws -> [TrafficKey] {
        let keys = Mutex<[TrafficKey]>([])
        let provider = Provider<URLTarget>(
            transport: ScriptedTransport(always: .status(200)),
            plugins: [
                .exchange { request, context, send in
                    keys.withLock { $0.append(partition.key(of: request, context)) }
                    return try await send(request)
                }
            ]
        )
        for url in urls { _ = try await provider.request(URLTarget(url)) }
        return keys.withLock { $0 }
    }

    @Test("An authority is compared without case and default port")
    func authority() async throws {
        let keys = try await keys(
            .authority,
            "https://a.test/x",
            "https://A.test:443/y",
            "HTTPS://a.test",
            "http://a.test",
            "https://a.test:8443"
        )
        #expect(
            keys.map(\.shownName) == [
                "https://a.test", "https://a.test", "https://a.test", "http://a.test", "https://a.test:8443",
            ]
        )
        #expect(Set(keys).count == 3)
        #expect(TrafficKey(origin: "https://a.test") == keys[0])
        #expect(TrafficKey(origin: "nothing") == nil)
    }

    @Test("All calls share the partition `shared`; the key of a closure is not shown")
    func others() async throws {
        let shared = try await keys(.shared, "https://a.test", "https://b.test")
        #expect(Set(shared).count == 1)
        #expect(shared[0].shownName == "all calls")
        let own = try await keys(
            TrafficPartition { request, _ in request.path },
            "https://a.test/1",
            "https://b.test/1"
        )
        #expect(Set(own).count == 1)
        #expect(own[0].shownName == nil)
    }

    @Test("A full map forgets the idle object that has not been used for the longest time")
    func bound() async throws {
        let keys = try await keys(
            .authority,
            "https://a.test",
            "https://b.test",
            "https://c.test",
            "https://d.test",
            "https://e.test"
        )
        let map = PartitionMap<Item>(maximumCount: 3)
        let manual = ManualClock()
        let clock = PipelineClock(manual)
        let now = clock.now
        let busy = map.object(for: keys[0], on: clock) { Item(idleFrom: nil) }
        _ = map.object(for: keys[1], on: clock) { Item(idleFrom: now) }
        _ = map.object(for: keys[2], on: clock) { Item(idleFrom: now.advanced(by: .seconds(1))) }
        _ = map.object(for: keys[1], on: clock) { Item(idleFrom: now) }
        manual.advance(by: .seconds(1))
        _ = map.object(for: keys[3], on: clock) { Item(idleFrom: now) }
        #expect(map[keys[2]] == nil)
        #expect(map[keys[0]] === busy)
        _ = map.object(for: keys[4], on: clock) { Item(idleFrom: now) }
        #expect(map[keys[1]] == nil)
        #expect(map.all.count == 3)
    }

    @Test(
        "G10: many hosts of a domain do not make a map forget what is in use, and idle objects of that domain go first"
    )
    func flood() async throws {
        let map = PartitionMap<Item>(maximumCount: 100)
        let clock = PipelineClock(ManualClock())
        let now = clock.now
        let open = try await keys(.authority, "https://api.bank.test").first
        let idle = try await keys(.authority, "https://api.shop.test").first
        let openKey = try #require(open)
        let circuit = map.object(for: openKey, on: clock) { Item(idleFrom: nil) }
        let other = map.object(for: try #require(idle), on: clock) { Item(idleFrom: now) }
        for number in 0..<5_000 {
            let key = try #require(TrafficKey(origin: "https://host\(number).evil.test"))
            _ = map.object(for: key, on: clock) { Item(idleFrom: now) }
            #expect(map.all.count <= 100)
        }
        #expect(map[openKey] === circuit)
        #expect(try map[#require(idle)] === other)
        // Even if all is in use, the map stays within its bound, and a new object is kept.
        for number in 0..<1_000 {
            let key = try #require(TrafficKey(origin: "https://busy\(number).evil.test"))
            let item = map.object(for: key, on: clock) { Item(idleFrom: nil) }
            #expect(map[key] === item && map.all.count == 100)
        }
    }

    @Test("G10: the domain of a host is its last two labels, also below a public suffix", arguments: [true, false])
    func domains(isBelowSuffix: Bool) throws {
        func key(_ host: String) throws -> TrafficKey { try #require(TrafficKey(origin: "https://\(host)")) }
        let map = PartitionMap<Item>(maximumCount: 100)
        let clock = PipelineClock(ManualClock())
        let now = clock.now
        func use(_ host: String) throws { _ = try map.object(for: key(host), on: clock) { Item(idleFrom: now) } }
        try use("api.shop.test")
        try use(isBelowSuffix ? "bank.co.uk" : "www.evil.test:8443")
        for number in 0...98 { try use("host\(number)" + (isBelowSuffix ? ".co.uk" : ".evil.test")) }
        #expect(try map[key("api.shop.test")] != nil)
        #expect(try map[key(isBelowSuffix ? "bank.co.uk" : "www.evil.test:8443")] == nil)
    }

    @Test("G10: a new host takes constant time in a full map, and in full budgets, whether or not all are in use")
    func constantTime() throws {
        for isBusy in [true, false] {
            let isLinear = isLinear(100) { count in
                let map = PartitionMap<Item>(maximumCount: count)
                let clock = PipelineClock(ManualClock())
                let now = clock.now
                for number in 0..<2 * count {
                    guard let key = TrafficKey(origin: "https://host\(number).test") else { continue }
                    _ = map.object(for: key, on: clock) { Item(idleFrom: isBusy ? nil : now) }
                }
            }
            #expect(isLinear)
        }
        let isLinear = isLinear(100) { count in
            let hosts = RetryBudget(RetryBudget().settings, maximumHostCount: count)
            for number in 0..<2 * count { hosts.addCall(to: "host\(number).test", at: Date(timeIntervalSince1970: 0)) }
        }
        #expect(isLinear)
    }

    @Test("G10: the budgets of hosts stay within their bound in constant time, and a host in use keeps its budget")
    func budgets() {
        let hosts = RetryBudget(RetryBudget(ratio: 0, minimumPerSecond: 0.1).settings, maximumHostCount: 100)
        var date = Date(timeIntervalSince1970: 0)
        let first = hosts.takeRetry(to: "a.test", at: date)
        #expect(first)
        for number in 0..<5_000 {
            hosts.addCall(to: "host\(number).test", at: date)
            date += 0.001
            let again = hosts.takeRetry(to: "a.test", at: date)
            #expect(!again)
            #expect(hosts.hostCount <= 100)
        }
    }
}
