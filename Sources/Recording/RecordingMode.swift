public import Foundation
import PipelineCore

/// The rule by which a ``RecordingTransport`` sends requests to the wrapped transport or replays them from the file.
public enum RecordingMode: String, Sendable, CaseIterable {
    /// Replays from the file and sends nothing. The file must exist.
    case replayOnly
    /// Records all requests if the file does not exist; replays from the file and sends nothing if it does.
    case recordOnce
    /// Replays the requests that the file contains; sends and records all other requests.
    case recordNew
    /// Sends and records all requests, and replaces the file at the end.
    case recordAll
    /// Sends all requests; neither reads nor writes the file.
    case passthrough

    static let environmentVariable = "PIPELINE_RECORD"

    /// Returns the mode that the environment variable `PIPELINE_RECORD` names.
    ///
    /// - Parameters:
    ///   - mode: the mode if the variable is not set or empty.
    ///   - variables: the environment; defaults to the environment of the process.
    /// - Returns: the mode whose case name is the value of the variable.
    /// - Throws: ``/Pipeline/PipelineError`` with code `recording.unknownMode` if the variable has any other value.
    public static func environment(
        otherwise mode: RecordingMode = .recordOnce,
        in variables: [String: String] = ProcessInfo.processInfo.environment
    ) throws -> RecordingMode {
        guard let name = variables[environmentVariable], !name.isEmpty else { return mode }
        guard let mode = RecordingMode(rawValue: name) else {
            let known = allCases.map(\.rawValue).joined(separator: ", ")
            throw PipelineError(
                .recording(.unknownMode),
                "\(environmentVariable) is \(name.quotedExcerpt); set it to one of \(known)"
            )
        }
        return mode
    }
}
