extension PipelineError.Code.Kind {
    /// A list of pages could not be continued; see ``Provider/Pages``.
    public static let pagination = Self("pagination")
}

extension PipelineError.Code {
    /// Returns the code for a list of pages that could not be continued.
    public static func pagination(_ reason: PaginationReason) -> Self { Self(.pagination, reason.rawValue) }

    /// The reason why a list of pages could not be continued.
    public struct PaginationReason: Sendable, Hashable {
        let rawValue: String

        /// The link to the next page leads to an origin other than the target's, or from https to http.
        public static let origin = Self(rawValue: "origin")
        /// The link or the cursor of the next page is the same as that of an earlier page.
        public static let loop = Self(rawValue: "loop")
        /// The link to the next page is not a URL that can be requested.
        public static let link = Self(rawValue: "link")
        /// The list has more pages than `maximumPageCount`.
        public static let tooMany = Self(rawValue: "tooMany")
    }
}
