import Foundation
import Pipeline
import PipelineRecording
import PipelineTesting
import Synchronization
import TestSupport
import Testing

@testable import PipelineReplayTesting

@Suite("The scope of a replay", .tags(.concurrent), .watched)
struct ReplayScopeTests {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "replay-\(UUID())")
    private let reports = Reports()

    private final class Reports: Sendable {
        private let texts = Mutex<[String]>([])
        var all: [String] { texts.withLock { $0 } }
        func add(_ text: String) { texts.withLock { $0.append(text) } }
    }

    private func scope(
        _ name: String,
        mode: String? = nil,
        failsOnUnusedEntries: Bool = false,
        recording transport: (any Transport)? = nil,
        hasFailed: Bool = false
    ) -> ReplayScope {
        var trait: ReplayTrait = .replay(name, failsOnUnusedEntries: failsOnUnusedEntries, recording: transport)
        if transport != nil {
            trait = .replay(
                name,
                failsOnUnusedEntries: failsOnUnusedEntries,
                recording: transport,
                filePath: folder.appending(path: "T.swift").path
            )
        }
        trait.settings.environment = mode.map { ["PIPELINE_RECORD": $0] } ?? [:]
        return ReplayScope(trait.settings, report: { reports.add($0) }, hasFailed: { hasFailed })
    }

    private func text(_ number: Int) async throws -> String {
        try await Provider<Item>(transport: .replay).request(Item(number: number)).mapString()
    }

    private func check(_ number: Int, _ expected: String) async throws {
        let text = try await text(number)
        #expect(text == expected)
    }

    @Test("A request that matches no entry is reported, even if the test ignores its error")
    func miss() async throws {
        try await scope("items").run {
            for _ in 0..<2 { _ = try? await text(9) }
        }
        #expect(reports.all.count == 1)
        #expect(reports.all.first?.contains("https://replay.example/items/9") == true)
        #expect(reports.all.first?.contains("entry 0") == true)
    }

    @Test("A request error that the test itself throws is not reported a second time")
    func thrownMiss() async throws {
        let error = await #expect(throws: PipelineError.self) {
            try await scope("items").run {
                _ = try? await text(8)
                _ = try await text(9)
            }
        }
        #expect(error?.code == .recording(.noMatch))
        #expect(reports.all.count == 1)
        #expect(reports.all.first?.contains("https://replay.example/items/8") == true)
    }

    @Test("A miss is reported even if the test throws, whose error passes through; unused entries are then not")
    func failing() async throws {
        await #expect(throws: CancellationError.self) {
            try await scope("items", failsOnUnusedEntries: true).run {
                _ = try? await text(9)
                throw CancellationError()
            }
        }
        #expect(reports.all.count == 1)
    }

    @Test("Unused entries are reported only with failsOnUnusedEntries")
    func unused() async throws {
        try await scope("items").run { _ = try await text(1) }
        #expect(reports.all == [])
        try await scope("items", failsOnUnusedEntries: true).run { _ = try await text(1) }
        #expect(reports.all.count == 1)
        #expect(reports.all.first?.contains("unused") == true)
        try await scope("items", failsOnUnusedEntries: true).run {
            for number in [1, 1, 2] { _ = try await text(number) }
        }
        #expect(reports.all.count == 1)
    }

    @Test(
        "A missing recording throws one error that says how to record it, and the test does not run"
    )
    func missing() async throws {
        let error = await #expect(throws: PipelineError.self) {
            try await scope("none").run { Issue.record("the test runs") }
        }
        #expect(error?.code == .recording(.missingFile))
        #expect(error?.reason.contains("PIPELINE_RECORD=recordOnce") == true)
        #expect(error?.reason.contains("Replays/none.har") == true)
        #expect(reports.all == [])
    }

    @Test("An unknown mode is an error")
    func unknownMode() async throws {
        await #expect(throws: PipelineError.self) {
            try await scope("items", mode: "twice").run { Issue.record("the test runs") }
        }
    }

    @Test("With PIPELINE_RECORD=recordOnce, a test records its requests and then replays them")
    func once() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let live = ScriptedTransport(always: .status(200, body: "live"))
        try await scope("new", mode: "recordOnce", recording: live).run { try await check(1, "live") }
        #expect(live.sent.count == 1)
        let offline = ScriptedTransport([])
        try await scope("new", recording: offline).run { try await check(1, "live") }
        #expect(offline.sent.isEmpty)
        #expect(reports.all == [])
    }

    @Test(
        "With PIPELINE_RECORD, a test that fails leaves an existing recording as it was",
        arguments: [true, false],
        ["recordAll", "recordNew"]
    )
    func keepsOld(throwsError: Bool, mode: String) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let replays = folder.appending(path: "Replays")
        try FileManager.default.createDirectory(at: replays, withIntermediateDirectories: true)
        let old = try Data(contentsOf: ReplaySettings.file("items", beside: #filePath))
        for (name, fails) in [("failed", true), ("passed", false), ("new", true)] {
            let file = replays.appending(path: "\(name)-\(throwsError).har")
            if name != "new" { try old.write(to: file) }
            let live = ScriptedTransport(always: .status(200, body: "live"))
            let scope = scope(
                "\(name)-\(throwsError)",
                mode: mode,
                recording: live,
                hasFailed: fails && !throwsError
            )
            try? await scope.run {
                try await check(7, "live")
                if fails, throwsError { throw CancellationError() }
            }
            // Without an old recording, that of a failed test is written: its author wants to see it.
            let isKept = try Data(contentsOf: file) == old
            #expect(isKept == (name == "failed"))
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: replays.path).count == 3)
    }

    @Test("With PIPELINE_RECORD=recordOnce, an existing recording is only replayed")
    func onceIsThere() async throws {
        try await scope("items", mode: "recordOnce").run {
            try await check(1, "one")
            _ = try? await text(9)
        }
        #expect(reports.all.count == 1)
    }

    @Test(
        "Tests that record one file concurrently take turns, and the file serves all of them",
        arguments: ["recordOnce", "recordAll"]
    )
    func together(mode: String) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let live = ScriptedTransport { request, _ in .status(200, body: request.path) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 1...10 {
                group.addTask {
                    try await scope("many", mode: mode, recording: live).run {
                        try await check(0, "/items/0")
                        try await check(number, "/items/\(number)")
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(live.sent.count == 11)
        for number in 1...10 {
            try await scope("many", recording: live).run {
                try await check(0, "/items/0")
                try await check(number, "/items/\(number)")
            }
        }
        #expect(live.sent.count == 11)
        #expect(reports.all == [])
    }

    @Test("With PIPELINE_RECORD=recordAll, tests that follow one that sends nothing still record anew")
    func allAfterNothing() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let old = ScriptedTransport(always: .status(200, body: "old"))
        try FileManager.default.createDirectory(
            at: folder.appending(path: "Replays"),
            withIntermediateDirectories: true
        )
        let file = folder.appending(path: "Replays/empty.har")
        let recorder = try RecordingTransport(file, wrapping: old, mode: .recordAll)
        _ = try await Provider<Item>(transport: recorder).request(Item(number: 1))
        try await recorder.finish()
        let live = ScriptedTransport(always: .status(200, body: "new"))
        try await scope("empty", mode: "recordAll", recording: live).run {}
        try await scope("empty", mode: "recordAll", recording: live).run { try await check(1, "new") }
        #expect(live.sent.count == 1)
    }

    @Test(
        "A token of a replayed response is redacted, so a request with it is not sent, and the file stays as it was",
        arguments: ["Authorization", "body"]
    )
    func redactedToken(place: String) async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let live = ScriptedTransport { _, _ in
            .status(200, headers: [.contentType: "application/json"], body: #"{"token": "s3cr3t-of-the-live-server"}"#)
        }
        func use(_ numbers: [Int]) async throws {
            let data = try await text(0)
            let token = try JSONDecoder().decode([String: String].self, from: Data(data.utf8))["token"]
            for number in numbers {
                let provider = Provider<Item>(
                    transport: .replay,
                    plugins: [
                        .prepare { request, _ in
                            let token = token ?? ""
                            if place == "body" {
                                request.body = .bytes(Data(#"{"token": "\#(token)"}"#.utf8))
                                request.headers[.contentType] = "application/json"
                            } else {
                                request.headers[.authorization] = "Bearer \(token)"
                            }
                        }
                    ]
                )
                _ = try await provider.request(Item(number: number))
            }
        }
        try await scope("login", mode: "recordOnce", recording: live).run { try await use([1]) }
        let file = folder.appending(path: "Replays/login.har")
        let old = try Data(contentsOf: file)
        let error = await #expect(throws: PipelineError.self) {
            try await scope("login", mode: "recordNew", recording: live).run { try await use([1, 2]) }
        }
        #expect(error?.code == .recording(.secret))
        #expect(error?.reason.contains("the \(place) contains") == true)
        #expect(error?.reason.contains("record login.har anew with PIPELINE_RECORD=recordAll") == true)
        #expect(live.sent.count == 2)
        #expect(try Data(contentsOf: file) == old)
    }

    @Test("A failing test still writes its recording")
    func failingRecorder() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let live = ScriptedTransport(always: .status(200, body: "live"))
        await #expect(throws: CancellationError.self) {
            try await scope("new", mode: "recordOnce", recording: live).run {
                _ = try await text(1)
                throw CancellationError()
            }
        }
        try await scope("new", recording: live).run { try await check(1, "live") }
        #expect(live.sent.count == 1)
    }
}
