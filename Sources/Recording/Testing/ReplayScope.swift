#if canImport(Testing)
import Foundation
import Pipeline
import PipelineRecording
import PipelineTransports
import Synchronization

/// One run of a test with its recording.
struct ReplayScope {
    /// Tests of one file record one after the other: there is one writer of a file at a time.
    private static let turns = Turns<URL>()
    /// What this process has recorded: once there, a file would be replayed only, and `all` would begin it anew for each test.
    private static let recorded = Mutex<Set<URL>>([])

    private let trait: ReplayTrait
    private let lane = FileLane()
    /// Is told what is wrong with a test that it may not have noticed itself.
    private let report: @Sendable (String) -> Void

    init(_ trait: ReplayTrait, report: @escaping @Sendable (String) -> Void) {
        self.trait = trait
        self.report = report
    }

    /// Runs a test.
    func run(_ test: () async throws -> Void) async throws {
        let mode = try RecordingMode.environment(trait.environment) ?? .none
        guard mode != .none else { return try await replay(test) }
        try await Self.turns.withTurn(trait.file) {
            let isRecorded = Self.recorded.withLock { $0.contains(trait.file) }
            let isThere = try await lane.run { FileManager.default.fileExists(atPath: trait.file.path) }
            if mode == .once, isThere, !isRecorded { return try await replay(test) }
            let isAdded = isRecorded && (mode == .once || mode == .all)
            try await record(isAdded ? .newEpisodes : mode, test)
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
            let variable = RecordingMode.environmentVariable
            report("there is no recording \(trait.file.path); to record it, run the test with \(variable)=once")
            throw error
        }
        try await run(test, ReplaySession(transport)) {
            if trait.unused.isFailure { try transport.recording.assertAllUsed() }
        }
    }

    private func record(_ mode: RecordingMode, _ test: () async throws -> Void) async throws {
        let wrapped = trait.makeTransport() ?? DefaultTransport.make()
        let transport = try await lane.run {
            let folder = trait.file.deletingLastPathComponent()
            try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
            return try RecordingTransport(
                trait.file,
                wrapping: wrapped,
                mode: mode,
                matching: trait.matching,
                atEnd: trait.end,
                redactor: trait.redactor
            )
        }
        try await run(test, ReplaySession(transport)) {
            if try await transport.finishRecording() { Self.recorded.withLock { _ = $0.insert(trait.file) } }
        }
    }

    /// Runs the test, and then what ends it, also when it fails.
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
        for miss in session.misses { report(miss) }
        do {
            try await end()
        } catch {
            report((error as? PipelineError)?.reason ?? "\(error)")
        }
        try result.get()
    }
}
#endif
