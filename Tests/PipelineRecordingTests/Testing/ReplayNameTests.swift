import Foundation
import Pipeline
import PipelineRecording
import PipelineTesting
import TestSupport
import Testing

@testable import PipelineReplayTesting

@Suite("Recordings of each test's own", .replay, .watched)
struct ReplayNameTests {
    private func text() async throws -> String {
        try await Provider<Item>(transport: .replay).request(Item(number: 1)).mapString()
    }

    @Test("A test without a named recording has its own, by suite and function")
    func own() async throws {
        #expect(try await text() == "one")
    }

    @Test("Each case has its own, by its arguments", arguments: [1, 2])
    func cases(number: Int) async throws {
        #expect(try await text() == (number == 1 ? "one" : "two"))
    }

    @Test("A name on the test takes precedence", .replay("items"))
    func named() async throws {
        #expect(try await text() == "one")
    }
}

@Suite("Names of recordings", .watched)
struct ReplayFileNameTests {
    @Test("A name consists of suites, function and arguments", arguments: zip(["a", "b/ü"], [1, 2]))
    func name(text: String, number: Int) throws {
        let name = ReplayTrait.name(of: try #require(Test.current), Test.Case.current)
        let expected = number == 1 ? "name-text-number-a-1" : "name-text-number-b---"
        #expect(name.hasPrefix("ReplayFileNameTests/" + expected))
        #expect(name.hasSuffix("-\(number)"))
    }

    @Test("A text that cannot be a file's name is replaced by one that stays unique and short")
    func fileNames() {
        #expect(ReplayTrait.fileName("a_b-C1") == "a_b-C1")
        let texts = [
            "a/b", "a:b", "..", ".", "a b", "\u{0}", String(repeating: "x", count: 200),
            String(repeating: "x", count: 201),
        ]
        let names = texts.map(ReplayTrait.fileName)
        #expect(Set(names).count == texts.count)
        for name in names {
            #expect(name.count < 80 && name.allSatisfy { $0.isLetter || $0.isNumber || "_-".contains($0) })
        }
    }
}

@Suite("withReplay", .watched)
struct WithReplayTests {
    @Test("It gives the code a transport that replays, and returns what the code returns")
    func replays() async throws {
        let text = try await withReplay("items") { transport in
            try await Provider<Item>(transport: transport).request(Item(number: 1)).mapString()
        }
        #expect(text == "one")
    }

    @Test("It throws for a request that matches no entry, even if the code ignores its error")
    func miss() async throws {
        let error = await #expect(throws: PipelineError.self) {
            try await withReplay("items") { transport in
                _ = try? await Provider<Item>(transport: transport).request(Item(number: 9))
            }
        }
        #expect(error?.code == .recording(.noMatch))
        #expect(error?.reason.contains("items/9") == true)
    }

    @Test("It throws the error of the code, and for entries that were not used")
    func errors() async throws {
        await #expect(throws: CancellationError.self) {
            try await withReplay("items") { _ in throw CancellationError() }
        }
        let error = await #expect(throws: PipelineError.self) {
            try await withReplay("items", failsOnUnusedEntries: true) { _ in }
        }
        #expect(error?.reason.contains("unused") == true)
    }
}
