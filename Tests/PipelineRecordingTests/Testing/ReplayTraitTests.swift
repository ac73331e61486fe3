import Foundation
import Pipeline
import PipelineRecording
import PipelineReplayTesting
import PipelineTesting
import TestSupport
import Testing

/// A target of the recordings beside these tests.
struct Item: TargetType {
    let number: Int

    var baseURL: URL { URL(string: "https://replay.example") ?? URL(filePath: "/") }
    var path: String { "items/\(number)" }
    var method: HTTPMethod { .get }
    var task: RequestTask { .requestPlain }
}

@Suite("A test with a recording", .tags(.concurrent), .watched)
struct ReplayTraitTests {
    @Test("The trait finds the recording beside the test, and .replay responds from it", .replay("items"))
    func answers() async throws {
        let provider = Provider<Item>(transport: .replay)
        #expect(try await provider.request(Item(number: 1)).mapString() == "one")
        #expect(try await provider.request(Item(number: 1)).mapString() == "one again")
    }

    @Test("Each case of a test begins with all entries unused", .replay("items"), arguments: 1...20)
    func cases(number: Int) async throws {
        let provider = Provider<Item>(transport: .replay)
        #expect(try await provider.request(Item(number: 1)).mapString() == "one")
    }

    private static let shared = Provider<Item>(transport: .replay)

    @Test("A provider shared by several tests uses the recording of each", .replay("items"), arguments: 1...20)
    func sharedProvider(number: Int) async throws {
        #expect(try await Self.shared.request(Item(number: 1)).mapString() == "one")
    }

    @Test("A detached task uses the recording of the test that created the transport", .replay("items"))
    func detached() async throws {
        let provider = Provider<Item>(transport: .replay)
        let text = try await Task.detached { try await provider.request(Item(number: 1)).mapString() }.value
        #expect(text == "one")
    }

    @Test("Without the trait a request fails with an error that names the trait")
    func noTrait() async throws {
        let error = await #expect(throws: PipelineError.self) {
            try await Provider<Item>(transport: .replay).request(Item(number: 1))
        }
        #expect(error?.code == .recording(.missingFile))
        #expect(error?.reason.contains(".replay(…)") == true)
    }

    @Test("Each test uses the recording that its own trait names", .replay("other"))
    func inner() async throws {
        #expect(try await Provider<Item>(transport: .replay).request(Item(number: 3)).mapString() == "three")
    }
}

@Suite("A suite with a recording", .replay("items"), .tags(.concurrent), .watched)
struct ReplaySuiteTests {
    private let provider = Provider<Item>(transport: .replay)

    @Test("Each test of the suite begins with all entries unused", arguments: 1...5)
    func first(number: Int) async throws {
        #expect(try await provider.request(Item(number: 1)).mapString() == "one")
    }

    @Suite("Nested")
    struct Nested {
        @Test("A nested suite inherits the recording")
        func nested() async throws {
            #expect(try await Provider<Item>(transport: .replay).request(Item(number: 1)).mapString() == "one")
        }
    }
}
