import Logging

extension LoggingPlugin {
    /// A level of detail.
    ///
    /// Each level adds lines to those of the lower levels.
    public struct Level: Sendable, Hashable, Comparable, CustomStringConvertible {
        /// The name of the level, the same as that of its static member.
        public let description: String
        let logLevel: Logger.Level

        private static let writing = [trace, debug, info, error]

        /// Writes nothing at all.
        public static let off = Level(description: "off", logLevel: .critical)
        /// Writes one line for each call that failed.
        public static let error = Level(description: "error", logLevel: .error)
        /// Adds one line for each request sent and one for its response.
        public static let info = Level(description: "info", logLevel: .info)
        /// Adds the header fields of requests and responses.
        public static let debug = Level(description: "debug", logLevel: .debug)
        /// Adds the bodies of requests and responses.
        public static let trace = Level(description: "trace", logLevel: .trace)

        /// Returns whether `lhs` writes less than `rhs`.
        public static func < (lhs: Level, rhs: Level) -> Bool { lhs.logLevel > rhs.logLevel }

        /// Returns the highest level whose lines pass a logger of the given level.
        static func upTo(_ logLevel: Logger.Level) -> Level { writing.first { $0.logLevel >= logLevel } ?? off }
    }

    /// The form of the lines that are written for a call.
    public struct Form: Sendable, Hashable, CustomStringConvertible {
        /// The name of the form, the same as that of its static member.
        public let description: String

        /// A line for each request and one for its response.
        public static let lines = Form(description: "lines")
        /// As ``lines``, but requests are cURL commands instead of line, fields and body.
        public static let curl = Form(description: "curl")
        /// One line for each call when it has ended.
        ///
        /// The lines of its exchanges are written only from level `debug`.
        public static let summary = Form(description: "summary")

        var exchangeLevel: Level { self == .summary ? .debug : .info }
    }
}
