extension LoggingPlugin {
    /// Which lines a call is written in.
    public struct Form: Sendable, Hashable, CustomStringConvertible {
        /// The form's name.
        public let description: String

        /// A line for each request and one for its answer.
        public static let lines = Form(description: "lines")
        /// As ``lines``, requests as cURL commands instead of line, fields and body.
        public static let curl = Form(description: "curl")
        /// One line for each call when it has ended; the lines of its exchanges only from level `debug` on.
        public static let summary = Form(description: "summary")

        var exchangeLevel: Level { self == .summary ? .debug : .info }
    }
}
