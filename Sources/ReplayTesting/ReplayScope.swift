import Foundation
import PipelineCore
import PipelineRecording
import PipelineTransports
import Synchronization

/// How a test replays or records.
struct ReplaySettings: Sendable {
    var file: URL
    let matching: RequestMatching
    let end: ReplayEnd
    let failsOnUnusedEntries: Bool
    let redactor: Redactor
    let makeTransport: @Sendable () -> (any Transport)?
    var environment = ProcessInfo.processInfo.environment

    /// Returns the recording of a name beside a source file.
    static func file(_ name: String, beside path: String) -> URL {
        URL(filePath: path).deletingLastPathComponent().appending(path: "Replays").appending(path: name + ".har")
    }
}

/// The scope that runs a test with its recording.
struct ReplayScope {
    /// Tests that record the same file take turns, because a file has one writer at a time.
    private static let turns = Turns<URL>()
    /// The files that this process has recorded.
    ///
    /// Further tests add to them, whatever the mode is.
    private static let recorded = Mutex<Set<URL>>([])

    private let settings: ReplaySettings
    private let lane = FileLane()
    /// Receives each error of a test that the test does not throw itself.
    private let report: @Sendable (String) -> Void
    /// Returns whether the test has failed, apart from what it throws.
    private let hasFailed: @Sendable () -> Bool

    init(
        _ settings: ReplaySettings,
        report: @escaping @Sendable (String) -> Void,
        hasFailed: @escaping @Sendable () -> Bool = { false }
    ) {
        self.settings = settings
        self.report = report
        self.hasFailed = hasFailed
    }

    /// Runs a test, which replays or records according to the mode.
    func run(_ test: () async throws -> Void) async throws {
        let mode = try RecordingMode.environment(otherwise: .replayOnly, in: settings.environment)
        guard mode != .replayOnly else { return try await replay(test) }
        try await Self.turns.withTurn(settings.file) {
            let isRecorded = Self.recorded.withLock { $0.contains(settings.file) }
            let isThere = try await lane.run { FileManager.default.fileExists(atPath: settings.file.path) }
            if mode == .recordOnce, isThere, !isRecorded { return try await replay(test) }
            let isAdded = isRecorded && (mode == .recordOnce || mode == .recordAll)
            try await record(isAdded ? .recordNew : mode, keepsOld: isThere, test)
        }
    }

    private func replay(_ test: () async throws -> Void) async throws {
        let transport: ReplayTransport
        do {
            transport = try await lane.run {
                try ReplayTransport(
                    settings.file,
                    matching: settings.matching,
                    atEnd: settings.end,
                    redactor: settings.redactor
                )
            }
        } catch let error as PipelineError where error.code == .recording(.missingFile) {
            throw PipelineError(
                error.code,
                "missing recording \(settings.file.path); to record it, run the test with PIPELINE_RECORD=recordOnce"
            )
        }
        try await run(test, ReplaySession(transport, { transport.configuration })) { isFailed in
            if settings.failsOnUnusedEntries, !isFailed { try transport.recording.assertAllUsed() }
        }
    }

    /// Records what the test sends; a test that fails changes no file that was there before.
    private func record(_ mode: RecordingMode, keepsOld: Bool, _ test: () async throws -> Void) async throws {
        let wrapped = settings.makeTransport() ?? DefaultTransport.make()
        let transport = try await lane.run {
            try RecordingTransport(
                settings.file,
                wrapping: wrapped,
                mode: mode,
                matching: settings.matching,
                atEnd: settings.end,
                redactor: settings.redactor
            )
        }
        try await run(test, ReplaySession(transport, { transport.configuration })) { isFailed in
            if isFailed, keepsOld {
                say("kept, because the test failed:")
                return try await transport.discardRecording()
            }
            guard try await transport.finishRecording() else { return }
            Self.recorded.withLock { _ = $0.insert(settings.file) }
            say("recorded")
        }
    }

    private func say(_ what: String) {
        FileHandle.standardError.write(Data("\(what) \(settings.file.path)\n".utf8))
    }

    /// Runs the test, then `end` with whether the test has failed.
    ///
    /// Reports each error that the test does not throw itself.
    private func run(
        _ test: () async throws -> Void,
        _ session: ReplaySession,
        end: (Bool) async throws -> Void
    ) async throws {
        let result: Result<Void, any Error>
        do {
            result = .success(try await ReplaySession.$current.withValue(session) { try await test() })
        } catch {
            result = .failure(error)
        }
        var thrown = ""
        if case .failure(let error as PipelineError) = result { thrown = error.reason }
        for miss in session.misses where !thrown.contains(miss) { report(miss) }
        let isFailed = (try? result.get()) == nil || hasFailed() || !session.misses.isEmpty
        do {
            try await end(isFailed)
        } catch {
            report((error as? PipelineError)?.reason ?? "\(error)")
        }
        try result.get()
    }
}
