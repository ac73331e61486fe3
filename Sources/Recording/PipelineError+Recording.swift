public import PipelineCore

extension PipelineError.Code.Kind {
    /// A request cannot be replayed, or a recording could not be made.
    public static let recording = Self("recording")
}

extension PipelineError.Code {
    /// Returns the code for a failed recording or replay.
    public static func recording(_ failure: RecordingFailure) -> Self { Self(.recording, failure.rawValue) }

    /// The reason why a recording or a replay failed.
    public enum RecordingFailure: String, Sendable {
        /// No entry matches the request.
        case noMatch
        /// Every entry that matches the request has been used.
        case usedUp
        /// The file does not exist.
        case missingFile
        /// The file, or an entry of it, is malformed.
        case corrupt
        /// Another recorder is writing the file.
        case busy
        /// The entry is too old.
        case expired
        /// The written file contains a secret.
        case secret
        /// The file could not be written.
        case notWritten
        /// No request has used some of the entries.
        case unused
        /// The environment names an unknown mode.
        case unknownMode
    }
}
