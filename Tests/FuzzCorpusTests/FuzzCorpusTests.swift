import Foundation
import Pipeline
import TestSupport
import Testing

/// Runs the fuzz targets of the package `Fuzz`, whose sources are linked into `Targets`, without a fuzzer.
@Suite("Fuzz targets", .tags(.concurrent), .watched)
struct FuzzCorpusTests {
    enum FuzzTarget: String, CaseIterable, Sendable {
        case challenges, events, gzip, harfile, multipart, retryafter, urlform

        func run(_ input: Data) {
            let bytes = [UInt8](input)
            bytes.withUnsafeBufferPointer { buffer in
                let run =
                    switch self {
                    case .challenges: fuzzChallenges
                    case .events: fuzzEvents
                    case .gzip: fuzzGzip
                    case .harfile: fuzzHAR
                    case .multipart: fuzzMultipart
                    case .retryafter: fuzzRetryAfter
                    case .urlform: fuzzURLForm
                    }
                _ = run(buffer.baseAddress, buffer.count)
            }
        }
    }

    /// Returns the inputs of a target's corpus in the order of their names.
    private func corpus(_ target: FuzzTarget) throws -> [Data] {
        let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Fuzz/Corpus")
        let folder = root.appending(path: target.rawValue)
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        return try files.sorted { $0.lastPathComponent < $1.lastPathComponent }.map { try Data(contentsOf: $0) }
    }

    /// Changes some bytes of an input, removes a part, or joins it with another input.
    private func changed(_ input: Data, _ other: Data, _ random: inout PipelineRandom) -> Data {
        var bytes = [UInt8](input)
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let index = Int.random(in: 0...bytes.count, using: &random)
            switch Int.random(in: 0..<4, using: &random) {
            case 0 where index < bytes.count: bytes[index] = UInt8.random(in: 0...255, using: &random)
            case 1: bytes.insert(UInt8.random(in: 0...255, using: &random), at: index)
            case 2: bytes.removeSubrange(index..<min(bytes.count, index + Int.random(in: 0...8, using: &random)))
            default: bytes = bytes[..<index] + other.suffix(Int.random(in: 0...32, using: &random))
            }
        }
        return Data(bytes)
    }

    @Test(
        "Every input of the corpus, and 300 changed ones, have the properties that the target checks",
        arguments: FuzzTarget.allCases
    )
    func corpus(target: FuzzTarget) async throws {
        let inputs = try corpus(target)
        #expect(inputs.count >= 5)
        await withCheckedContinuation { (done: CheckedContinuation<Void, Never>) in
            // Targets block their thread, so they must not run on one that runs tasks.
            Thread.detachNewThread {
                var random = PipelineRandom.seeded(20_261_128)
                for input in inputs { target.run(input) }
                for _ in 0..<300 {
                    guard let input = inputs.randomElement(using: &random) else { break }
                    target.run(changed(input, inputs.randomElement(using: &random) ?? input, &random))
                }
                done.resume()
            }
        }
    }
}

/// Runs an operation in a task, and blocks the thread until it ends, for at most two minutes.
func runToEnd(_ operation: @escaping @Sendable () async -> Void) {
    let isDone = DispatchSemaphore(value: 0)
    Task {
        await operation()
        isDone.signal()
    }
    if isDone.wait(timeout: .now() + 120) == .timedOut { Issue.record("An operation did not end in two minutes.") }
}

/// Records an issue if a property of a target does not hold.
func require(_ condition: Bool, _ message: @autoclosure () -> String) {
    if !condition { Issue.record("\(message())") }
}
