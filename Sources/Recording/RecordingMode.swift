public import Foundation
import Pipeline

/// When a ``RecordingTransport`` sends requests on, and when it answers from the file.
public struct RecordingMode: Sendable, Hashable, CustomStringConvertible {
    /// As the environment writes it.
    private let name: String

    private init(_ name: String) { self.name = name }

    /// Answers from the file only.
    public static let none = RecordingMode("none")
    /// Records all when there is no file, and answers from the file only when there is one.
    public static let once = RecordingMode("once")
    /// Answers from the file, and records what it does not answer.
    public static let newEpisodes = RecordingMode("newEpisodes")
    /// Records all, and then replaces the file.
    public static let all = RecordingMode("all")
    /// Sends all on, and neither reads nor writes the file.
    public static let passthrough = RecordingMode("passthrough")

    /// The name of the environment variable.
    public static let environmentVariable = "PIPELINE_RECORD"

    /// As the environment writes it.
    public var description: String { name }

    /// The mode that `PIPELINE_RECORD` names: none, once, newEpisodes, all, passthrough.
    ///
    /// - Parameter environment: variables; default those of the process.
    /// - Returns: the mode, `nil` when the variable is not there or empty.
    /// - Throws: ``Pipeline/PipelineError`` with code `recording.unknownMode`.
    public static func environment(
        _ environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> RecordingMode? {
        guard let word = environment[environmentVariable], !word.isEmpty else { return nil }
        guard let mode = allModes.first(where: { $0.name == word }) else {
            let known = allModes.map(\.name).joined(separator: ", ")
            throw PipelineError(
                .recording(.unknownMode),
                "\(environmentVariable) is \(word.quotedExcerpt), none of \(known)"
            )
        }
        return mode
    }

    private static let allModes = [none, once, newEpisodes, all, passthrough]
}
