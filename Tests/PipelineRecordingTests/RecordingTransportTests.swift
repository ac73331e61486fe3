import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

@testable import PipelineRecording

@Suite("RecordingTransport", .tags(.concurrent), .watched)
struct RecordingTransportTests {
    private let bench: RecordingBench

    init() throws { bench = try RecordingBench() }

    @Test("recordOnce records if there is no file, and replays the file if there is one")
    func once() async throws {
        try await bench.record([.status(200, body: "live")], mode: .recordOnce) { provider in
            let first = try await provider.request(bench.target()).data
            #expect(first == Data("live".utf8))
        }
        let replay = bench.provider(try bench.closed(.recordOnce))
        #expect(try await replay.request(bench.target()).data == Data("live".utf8))
        #expect(try await replay.failureCode(bench.target("/other")) == .noMatch)
        #expect(bench.names == ["api.har"])
    }

    @Test(
        "a mode that records creates the folder of its file, even if it was removed meanwhile",
        arguments: [RecordingMode.recordOnce, .recordNew, .recordAll]
    )
    func folder(mode: RecordingMode) async throws {
        let file = bench.folder.appending(path: "a/b/api.har", directoryHint: .notDirectory)
        let transport = try RecordingTransport(
            file,
            wrapping: ScriptedTransport([.status(200, body: "live")]),
            mode: mode
        )
        _ = try await bench.provider(transport).request(bench.target())
        try FileManager.default.removeItem(at: bench.folder.appending(path: "a"))
        try await transport.finish()
        let replay = bench.provider(try ReplayTransport(file))
        #expect(try await replay.request(bench.target()).data == Data("live".utf8))
    }

    @Test("a mode that does not record creates no folder", arguments: [RecordingMode.replayOnly, .passthrough])
    func noFolder(mode: RecordingMode) throws {
        let file = bench.folder.appending(path: "a/api.har", directoryHint: .notDirectory)
        _ = try? RecordingTransport(file, wrapping: RecordingBench.forbidden, mode: mode)
        #expect(bench.names == [])
    }

    @Test("replayOnly responds only from the file")
    func none() async throws {
        try await bench.record([.status(200, body: "live")]) { _ = try await $0.request(bench.target()) }
        let replay = bench.provider(try bench.closed(.replayOnly))
        #expect(try await replay.request(bench.target()).data == Data("live".utf8))
    }

    @Test("recordNew replays the file and appends requests that match no entry")
    func recordNew() async throws {
        try await bench.record([.status(200, body: "first")]) { _ = try await $0.request(bench.target("/1")) }
        let old = bench.text
        try await bench.record([.status(200, body: "second")], mode: .recordNew) { provider in
            let first = try await provider.request(bench.target("/1")).data
            #expect(first == Data("first".utf8))
            let second = try await provider.request(bench.target("/2")).data
            #expect(second == Data("second".utf8))
        }
        #expect(bench.text.hasPrefix(old.prefix { $0 != "]" }.dropLast(8)))
        let replay = try bench.closed(.replayOnly)
        let provider = bench.provider(replay)
        #expect(try await provider.request(bench.target("/2")).data == Data("second".utf8))
        #expect(replay.recording.entries.map(\.url) == ["https://api.example/1", "https://api.example/2"])
    }

    @Test("recordNew records everything if there is no file, and requests whose entries are used up")
    func recordNewUsedUp() async throws {
        try await bench.record([.status(200, body: "1")], mode: .recordNew) {
            _ = try await $0.request(bench.target())
        }
        try await bench.record([.status(200, body: "2")], mode: .recordNew) { provider in
            let first = try await provider.request(bench.target()).data
            #expect(first == Data("1".utf8))
            let second = try await provider.request(bench.target()).data
            #expect(second == Data("2".utf8))
        }
        #expect(try ReplayTransport(bench.file).recording.entries.count == 2)
    }

    @Test("recordAll keeps the old file until it finishes, and then replaces it")
    func all() async throws {
        try await bench.record([.status(200, body: "old")]) { _ = try await $0.request(bench.target()) }
        let old = bench.text
        let transport = try RecordingTransport(
            bench.file,
            wrapping: ScriptedTransport(always: .status(200, body: "new")),
            mode: .recordAll
        )
        _ = try await bench.provider(transport).request(bench.target())
        #expect(bench.text == old)
        try await transport.finish()
        #expect(bench.text.contains("new"))
        #expect(!bench.text.contains("old"))
    }

    @Test(
        "finishing without a recorded exchange writes no file",
        arguments: [RecordingMode.recordAll, .recordNew, .recordOnce]
    )
    func nothing(mode: RecordingMode) async throws {
        let transport = try RecordingTransport(bench.file, wrapping: RecordingBench.forbidden, mode: mode)
        try await transport.finish()
        #expect(bench.names == [])
    }

    @Test("passthrough sends every request and touches no file")
    func passthrough() async throws {
        let transport = try RecordingTransport(
            bench.file,
            wrapping: ScriptedTransport([.status(204)]),
            mode: .passthrough
        )
        #expect(try await bench.provider(transport).request(bench.target()).statusCode == 204)
        try await transport.finish()
        #expect(bench.names == [])
    }

    @Test("the file is written when the transport is released")
    func endOfLife() async throws {
        do {
            let transport = try RecordingTransport(
                bench.file,
                wrapping: ScriptedTransport(always: .status(200, body: "live")),
                mode: .recordOnce
            )
            _ = try await bench.provider(transport).request(bench.target())
            #expect(bench.names == ["api.har.journal"])
        }
        #expect(bench.names == ["api.har"])
    }

    @Test("only the owner can read the file")
    func permissions() async throws {
        try await bench.record([.status(200)]) { _ = try await $0.request(bench.target()) }
        let attributes = try FileManager.default.attributesOfItem(atPath: bench.file.path)
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
    }

    @Test(
        "F03 a second recorder for the same file is refused until the first has finished",
        arguments: [
            RecordingMode.recordAll, .recordNew, .recordOnce,
        ]
    )
    func busy(mode: RecordingMode) async throws {
        let first = try RecordingTransport(bench.file, wrapping: RecordingBench.forbidden, mode: mode)
        let error = #expect(throws: PipelineError.self) {
            try RecordingTransport(bench.file, wrapping: RecordingBench.forbidden, mode: mode)
        }
        #expect(error?.code == .recording(.busy))
        try await first.finish()
        _ = try RecordingTransport(bench.file, wrapping: RecordingBench.forbidden, mode: mode)
    }

    @Test("F03 50 tasks that record to one file neither lose nor mix entries")
    func manyTasks() async throws {
        let transport = try RecordingTransport(
            bench.file,
            wrapping: ScriptedTransport { request, _ in .status(200, body: "answer to \(request.path)") },
            mode: .recordAll
        )
        let provider = bench.provider(transport)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<50 {
                group.addTask { [bench] in _ = try await provider.request(bench.target("/\(number)")) }
            }
            try await group.waitForAll()
        }
        try await transport.finish()
        let replay = try ReplayTransport(bench.file)
        let replayed = bench.provider(replay)
        for number in 0..<50 {
            let response = try await replayed.request(bench.target("/\(number)"))
            #expect(response.data == Data("answer to /\(number)".utf8))
        }
        try replay.recording.assertAllUsed()
    }

    @Test("entries are recorded in the order in which their requests began, not ended")
    func order() async throws {
        let delays: [Duration] = [.seconds(3), .seconds(1), .seconds(2)]
        let transport = try RecordingTransport(
            bench.file,
            wrapping: ScriptedTransport { _, index in .delayed(delays[index], .status(200, body: "\(index)")) },
            mode: .recordAll
        )
        let provider = bench.provider(transport)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<3 {
                group.addTask { [bench] in _ = try await provider.request(bench.target()) }
                try await bench.clock.waitForSleepers(number + 1)
            }
            for _ in 0..<3 { try await bench.clock.advanceToNextSleeper() }
            try await group.waitForAll()
        }
        try await transport.finish()
        let replay = bench.provider(try ReplayTransport(bench.file))
        for number in 0..<3 {
            #expect(try await replay.request(bench.target()).data == Data("\(number)".utf8))
        }
    }

    @Test("an exchange that the caller cancels is not recorded")
    func cancelled() async throws {
        let scripted = ScriptedTransport([.hang, .status(200)])
        let transport = try RecordingTransport(bench.file, wrapping: scripted, mode: .recordAll)
        let provider = bench.provider(transport)
        let call = Task { [bench] in try await provider.request(bench.target("/hang")) }
        await eventually { scripted.sent.count == 1 }
        call.cancel()
        await #expect(throws: CancellationError.self) { _ = try await call.value }
        _ = try await provider.request(bench.target("/next"))
        try await transport.finish()
        #expect(try ReplayTransport(bench.file).recording.entries.map(\.url) == ["https://api.example/next"])
    }

    @Test("a request after finish() is refused and not sent")
    func afterFinish() async throws {
        let scripted = ScriptedTransport(always: .status(200))
        let transport = try RecordingTransport(bench.file, wrapping: scripted, mode: .recordAll)
        let provider = bench.provider(transport)
        _ = try await provider.request(bench.target())
        try await transport.finish()
        try await transport.finish()
        #expect(try await provider.failureCode(bench.target()) == .recording(.notWritten))
        #expect(scripted.sent.count == 1)
    }

    @Test("a body too large to record is delivered, and finish() throws recording.notWritten")
    func tooLarge() async throws {
        let transport = try RecordingTransport(
            bench.file,
            wrapping: ScriptedTransport(always: .status(200, body: "12345")),
            mode: .recordAll,
            bodyByteCount: 4
        )
        #expect(try await bench.provider(transport).request(bench.target()).data.count == 5)
        let error = await #expect(throws: PipelineError.self) { try await transport.finish() }
        #expect(error?.code == .recording(.notWritten))
        #expect(bench.names == [])
    }

    @Test("a body larger than 1 MiB is stored in a side file")
    func sideFile() async throws {
        let body = Data(repeating: 0x78, count: 1 << 20 + 1)
        try await bench.record([.status(200, body: .bytes(body))]) { _ = try await $0.request(bench.target()) }
        #expect(bench.names == ["api-files", "api.har"])
        #expect(bench.text.utf8.count < 2_000)
        let response = try await bench.provider(try ReplayTransport(bench.file)).request(bench.target())
        #expect(response.data == body)
    }

    @Test("the mode defaults to that of the environment")
    func defaultMode() throws {
        let transport = try RecordingTransport(bench.file, wrapping: RecordingBench.forbidden)
        #expect(try transport.mode == RecordingMode.environment())
    }

    @Test("creating a transport fails if its folder cannot be created, and nothing is sent")
    func noFolder() throws {
        try Data().write(to: bench.folder.appending(path: "no"))
        let error = #expect(throws: PipelineError.self) {
            try RecordingTransport(
                bench.folder.appending(path: "no/api.har"),
                wrapping: RecordingBench.forbidden,
                mode: .recordOnce
            )
        }
        #expect(error?.code == .recording(.notWritten))
    }

    @Test(
        "recordNew takes over the journal of a killed recorder, and recordAll discards it"
    )
    func journal() async throws {
        let journal = try HARJournal(for: bench.file)
        try journal.append(
            HAREntry(
                RecordedExchange(
                    request: .init(method: "GET", url: "https://api.example/left"),
                    response: .init(status: 200, body: Data("left".utf8))
                )
            )
        )
        let left = try Data(contentsOf: journal.url)
        try journal.discard()
        try left.write(to: journal.url)
        let transport = try RecordingTransport(bench.file, wrapping: RecordingBench.forbidden, mode: .recordNew)
        #expect(try await bench.provider(transport).request(bench.target("/left")).data == Data("left".utf8))
        try await transport.finish()
        #expect(bench.text.contains("/left"))
        try left.write(to: journal.url)
        try await bench.record([.status(200, body: "anew")]) { _ = try await $0.request(bench.target("/anew")) }
        #expect(!bench.text.contains("/left"))
        #expect(bench.names == ["api.har"])
    }

    @Test("journal entries that are already in the file are not added twice")
    func journalAndFile() async throws {
        let journal = try HARJournal(for: bench.file)
        var har = HARFile()
        for path in ["a", "b"] {
            let entry = HAREntry(
                RecordedExchange(
                    request: .init(method: "GET", url: "https://api.example/\(path)"),
                    response: .init(status: 200, body: Data(path.utf8))
                )
            )
            try journal.append(entry)
            har.append(entry)
        }
        try har.write(to: bench.file)
        let left = try Data(contentsOf: journal.url)
        try journal.discard()
        try left.write(to: journal.url)
        let transport = try RecordingTransport(bench.file, wrapping: RecordingBench.forbidden, mode: .recordNew)
        #expect(transport.recording.entries.count == 2)
        try await transport.finish()
        #expect(try HARFile(contentsOf: bench.file).count == 2)
        #expect(bench.names == ["api.har"])
    }

    @Test("a secret learned from an earlier request is already hidden in the journal")
    func journalSecrets() async throws {
        let steps: [ScriptedTransport.Step] = [
            .status(200, body: "1"), .status(200, body: "you are 2YotnFZFEjr1zCsicMWpAA"),
        ]
        let transport = try RecordingTransport(bench.file, wrapping: ScriptedTransport(steps), mode: .recordAll)
        let first = bench.provider(transport) {
            try $0.setHeader("Bearer 2YotnFZFEjr1zCsicMWpAA", for: .authorization, isSecret: true)
        }
        _ = try await first.request(bench.target("/login"))
        _ = try await bench.provider(transport).request(bench.target("/me"))
        let journal = await bench.journal(until: "/me\"")
        #expect(!journal.contains("2YotnFZFEjr1zCsicMWpAA"))
        try await transport.finish()
    }

    @Test("a cookie whose value is a HAR member name does not damage the file")
    func vocabulary() async throws {
        let headers: HTTPFields = [.setCookie: "view=response"]
        try await bench.record([.status(200, headers: headers, body: "ok")]) {
            _ = try await $0.request(bench.target())
        }
        #expect(
            try await bench.provider(try ReplayTransport(bench.file)).request(bench.target()).data == Data("ok".utf8)
        )
    }

    @Test("the name shows the wrapped transport and the mode, and decodesContent is its own", arguments: [true, false])
    func description(decodes: Bool) throws {
        let transport = try RecordingTransport(
            bench.file,
            wrapping: ScriptedTransport([], decodesContent: decodes),
            mode: .recordAll
        )
        #expect(transport.name == "RecordingTransport(ScriptedTransport, recordAll)")
        #expect(transport.decodesContent == decodes)
    }
}
