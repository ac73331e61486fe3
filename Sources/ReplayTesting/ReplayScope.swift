#if canImport(Testing)
import Foundation
import PipelineCore
import PipelineRecording
import PipelineTransports
import Synchronization

/// The scope that runs a test with its recording.
struct ReplayScope {
    /// Tests that record the same file take turns, because a file has one writer at a time.
    private static let turns = Turns<URL>()
    /// The files that this process has recorded.
    ///
    /// Further tests add to them, whatever the mode is.
    private static let recorded = Mutex<Set<URL>>([])

    private let trait: ReplayTrait
    private let lane = FileLane()
    /// Receives each error of a test that the test does not throw itself.
    private let report: @Sendable (String) -> Void

    init(_ trait: ReplayTrait, report: @escaping @Sendable (String) -> Void) {
        self.trait = trait
        self.report = report
    }

    /// Runs a test, which replays or records according to the mode.
    func run(_ test: () async throws -> Void) async throws {
        let mode = try RecordingMode.environment(otherwise: .replayOnly, in: trait.environment)
        guard mode != .replayOnly else { return try await replay(test) }
        try await Self.turns.withTurn(trait.file) {
            let isRecorded = Self.recorded.withLock { $0.contains(trait.file) }
            let isThere = try await lane.run { FileManager.default.fileExists(atPath: trait.file.path) }
            if mode == .recordOnce, isThere, !isRecorded { return try await replay(test) }
            let isAdded = isRecorded && (mode == .recordOnce || mode == .recordAll)
            try await record(isAdded ? .recordNew : mode, test)
        }
    }

    private func replay(_ test: () async throws -> Void) async throws {
        let transport: ReplayTransport
        do {
            transport = try await lane.run {
                try ReplayTransport(
                    trait.file,
                    matching: trait.matching,
                    atEnd: trait.end,
                    redactor: trait.redactor
                )
            }
        } catch let error as PipelineError where error.code == .recording(.missingFile) {
            throw PipelineError(
                error.code,
                "missing recording \(trait.file.path); to record it, run the test with PIPELINE_RECORD=recordOnce"
            )
        }
        try await run(test, ReplaySession(transport, { transport.configuration })) {
            if trait.failsOnUnusedEntries { try transport.recording.assertAllUsed() }
        }
    }

    private func record(_ mode: RecordingMode, _ test: () async throws -> Void) async throws {
        let wrapped = trait.makeTransport() ?? DefaultTransport.make()
        let transport = try await lane.run {
            try RecordingTransport(
                trait.file,
                wrapping: wrapped,
                mode: mode,
                matching: trait.matching,
                atEnd: trait.end,
                redactor: trait.redactor
            )
        }
        try await run(test, ReplaySession(transport, { transport.configuration })) {
            if try await transport.finishRecording() { Self.recorded.withLock { _ = $0.insert(trait.file) } }
        }
    }

    /// Runs the test, then `end`, even if the test fails.
    ///
    /// Reports each error that the test does not throw itself.
    private func run(
        _ test: () async throws -> Void,
        _ session: ReplaySession,
        end: () async throws -> Void
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
        do {
            try await end()
        } catch {
            report((error as? PipelineError)?.reason ?? "\(error)")
        }
        try result.get()
    }
}
#endif
