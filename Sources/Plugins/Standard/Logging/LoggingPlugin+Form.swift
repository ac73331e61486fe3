extension LoggingPlugin {
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
