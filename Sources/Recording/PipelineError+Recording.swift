public import Pipeline

extension PipelineError.Code {
    /// A recording does not answer, or could not be made.
    public static let recording = Self(rawValue: "recording")
    /// What is wrong with the recording.
    public static func recording(_ failure: RecordingFailure) -> Self {
        Self(rawValue: "recording." + failure.rawValue)
    }

    /// What is wrong with a recording.
    public struct RecordingFailure: RawRepresentable, Sendable, Hashable {
        /// The text after the full stop.
        public let rawValue: String
        /// Makes a failure.
        public init(rawValue: String) { self.rawValue = rawValue }
        /// No entry matches the request.
        public static let noMatch = Self(rawValue: "noMatch")
        /// Each entry that matches the request has been used.
        public static let usedUp = Self(rawValue: "usedUp")
        /// The file is not there.
        public static let missingFile = Self(rawValue: "missingFile")
        /// The file, or an entry of it, is not what it is said to be.
        public static let corrupt = Self(rawValue: "corrupt")
        /// Another recorder writes the file.
        public static let busy = Self(rawValue: "busy")
        /// The entry is older than it may be.
        public static let expired = Self(rawValue: "expired")
        /// A declared secret stands in what was written.
        public static let secret = Self(rawValue: "secret")
        /// The file could not be written.
        public static let notWritten = Self(rawValue: "notWritten")
        /// Entries are left that no request has used.
        public static let unused = Self(rawValue: "unused")
        /// The mode that the environment names is not known.
        public static let unknownMode = Self(rawValue: "unknownMode")
    }
}
