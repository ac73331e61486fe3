extension Provider {
    /// The pages of a list, requested one after another as they are read.
    ///
    /// ```swift
    /// for try await repos in provider.pages(.repos, of: [Repo].self) {
    ///     show(repos)
    /// }
    /// ```
    ///
    /// **Effects**
    ///
    /// - Each page is a separate call through all plugins. Nothing is sent before a page is requested.
    /// - Each iteration begins with the first page. It keeps the links and cursors of the pages so far in memory.
    ///
    /// **Errors**: those of the calls and of the closures, and the following. An error is thrown after the page that
    /// led to it has been delivered, and no page follows it.
    ///
    /// | code | when |
    /// |---|---|
    /// | `pagination.origin` | a link leads to a scheme, host or port other than the target's; nothing is sent there |
    /// | `pagination.loop` | a link or a cursor is the same as that of an earlier page |
    /// | `pagination.link` | a link is not an http or https URL |
    /// | `pagination.tooMany` | there are more pages than `maximumPageCount` |
    public struct Pages<Element: Sendable>: AsyncSequence, Sendable {
        let start: Target
        let maximumPageCount: Int
        let fetch: @Sendable (Target, PageLink?) async throws -> FetchedPage<Target, Element>

        /// Returns an iterator that starts with the first page.
        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

        /// An iterator that reads page by page.
        public struct AsyncIterator: AsyncIteratorProtocol {
            private let pages: Pages
            /// What follows the previous page; `nil` before the first page.
            private var upcoming: Result<NextPage<Element>.Step, any Error>?
            private var seen: Set<AnyHashable> = []
            private var count = 0

            init(_ pages: Pages) {
                self.pages = pages
            }

            /// Whether the last page has been read.
            var isAtEnd: Bool {
                if case .success(.end) = upcoming { true } else { false }
            }

            /// Returns the next page, or `nil` after the last.
            public mutating func next() async throws -> Element? {
                let step = upcoming
                // If an error is thrown below, the sequence ends.
                upcoming = .success(.end)
                switch try step?.get() {
                case nil: return try await fetch(pages.start, nil)
                case .end: return nil
                case .link(let link):
                    try note(AnyHashable(link))
                    return try await fetch(pages.start, link)
                case .target(let target, let cursor):
                    try note(AnyHashable(cursor))
                    return try await fetch(target, nil)
                }
            }

            private mutating func fetch(_ target: Target, _ link: PageLink?) async throws -> Element {
                let fetched = try await pages.fetch(target, link)
                count += 1
                seen.insert(AnyHashable(fetched.place))
                upcoming = fetched.next
                return fetched.page
            }

            /// Throws if the page was read before, or if there are too many.
            private mutating func note(_ place: AnyHashable) throws {
                guard seen.insert(place).inserted else {
                    throw PipelineError(.pagination(.loop), "page \(count) leads back to an earlier page")
                }
                guard count < pages.maximumPageCount else {
                    let reason = "there are more than \(count) pages; raise maximumPageCount to read them"
                    throw PipelineError(.pagination(.tooMany), reason)
                }
            }
        }
    }
}

/// A page and what follows it.
struct FetchedPage<Target: TargetType, Page: Sendable>: Sendable {
    let page: Page
    /// The place that the request for the page went to.
    let place: PageLink
    let next: Result<Provider<Target>.NextPage<Page>.Step, any Error>
}
