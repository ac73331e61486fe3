import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@Suite("Pager", .watched)
struct PagerTests {
    private struct Page: Codable, Sendable, Equatable {
        let items: [Int]
        let next: Int?
    }

    /// A list of three pages; the transport fails as the steps say.
    private static func pager(
        _ transport: ScriptedTransport,
        clock: ManualClock = ManualClock()
    ) -> Provider<TestTarget>.Pager<Page> {
        Provider<TestTarget>(transport: transport, configuration: .init(clock: clock))
            .pages(
                TestTarget(path: "0", validationType: .automatic),
                of: Page.self,
                next: .cursor({ $0.next }, target: { TestTarget(path: "\($0)", validationType: .automatic) })
            )
            .makePager()
    }

    private static func step(_ number: Int, isLast: Bool = false) -> ScriptedTransport.Step {
        .status(200, body: #"{"items": [\#(number)]\#(isLast ? "" : #", "next": \#(number + 1)"#)}"#)
    }

    @Test("It loads page after page, and knows after the last one that the list is complete")
    func pages() async throws {
        let transport = ScriptedTransport([Self.step(0), Self.step(1), Self.step(2, isLast: true)])
        let pager = Self.pager(transport)
        #expect(await pager.current == nil)
        for number in 0...2 {
            #expect(await !pager.isComplete)
            #expect(try await pager.next()?.items == [number])
            #expect(await pager.current?.items == [number])
        }
        #expect(await pager.isComplete)
        #expect(try await pager.next() == nil)
        #expect(await pager.current?.items == [2])
        #expect(transport.sent.count == 3)
    }

    @Test("After an error, the next call asks for the same page again, whatever failed")
    func retry() async throws {
        let transport = ScriptedTransport([
            .failure(.offline), Self.step(0), .failure(.offline), .status(500), .status(200, body: "<html>"),
            Self.step(1),
        ])
        let pager = Self.pager(transport)
        var codes: [PipelineError.Code?] = []
        var items: [Int] = []
        for _ in 1...6 {
            let error = await pipelineError { items += try await pager.next()?.items ?? [] }
            codes.append(error?.code)
        }
        #expect(items == [0, 1])
        #expect(codes == [.offline, nil, .offline, .unacceptableStatus, .mapping(.object), nil])
        #expect(transport.sent.map(\.path).suffix(4).allSatisfy { $0.hasSuffix("/1") })
    }

    @Test("Calls at the same time load different pages, one after another")
    func concurrent() async throws {
        let pager = Self.pager(ScriptedTransport((0..<20).map { Self.step($0, isLast: $0 == 19) }))
        let items = try await withThrowingTaskGroup { group in
            for _ in 0..<30 { group.addTask { try await pager.next()?.items ?? [] } }
            var items: [Int] = []
            for try await page in group { items += page }
            return items
        }
        #expect(items.sorted() == Array(0..<20))
    }

    @Test("A reset begins with the first page; a load in progress has no effect on it")
    func reset() async throws {
        let clock = ManualClock()
        let transport = ScriptedTransport { _, index in
            index == 0 ? .delayed(.seconds(1), Self.step(0)) : Self.step(index - 1)
        }
        let pager = Self.pager(transport, clock: clock)
        let stale = Task { try await pager.next() }
        try await clock.waitForSleepers()
        await pager.reset()
        clock.advance(by: .seconds(1))
        await #expect(throws: CancellationError.self) { _ = try await stale.value }
        #expect(await pager.current == nil)
        #expect(try await pager.next()?.items == [0])
        #expect(transport.sent.map(\.path).allSatisfy { $0.hasSuffix("/0") })
    }

    @Test("A call that waits for another one can be cancelled, and the pages stay complete")
    func cancelled() async throws {
        let clock = ManualClock()
        let transport = ScriptedTransport { _, index in
            index == 0 ? .delayed(.seconds(1), Self.step(0)) : Self.step(index)
        }
        let pager = Self.pager(transport, clock: clock)
        let first = Task { try await pager.next() }
        try await clock.waitForSleepers()
        let waiting = Task { try await pager.next() }
        waiting.cancel()
        await #expect(throws: CancellationError.self) { _ = try await waiting.value }
        clock.advance(by: .seconds(1))
        #expect(try await first.value?.items == [0])
        #expect(try await pager.next()?.items == [1])
    }
}
