extension Provider {
    /// The pages of a list, requested one after the other as they are read.
    ///
    /// ```swift
    /// for try await repos in provider.pages(.repos, of: [Repo].self) {
    ///     show(repos)
    /// }
    /// ```
    ///
    /// **Effects**
    ///
    /// - Each page is a call of its own through all plugins. Nothing is sent before a page is asked for.
    /// - Each iteration begins with the first page. Kept while reading: the links and cursors of the pages so far.
    ///
    /// **Errors**: those of the calls and of the closures, and these. They are thrown after the page that leads there has been
    /// delivered; no page follows an error.
    ///
    /// | code | when |
    /// |---|---|
    /// | `pagination.origin` | a link leads to another scheme, host or port than the target's; nothing is sent there |
    /// | `pagination.loop` | a link or a cursor is that of an earlier page |
    /// | `pagination.link` | a link is not an http or https URL |
    /// | `pagination.tooMany` | there are more pages than `maximumPageCount` |
    public struct Pages<Element: Sendable>: AsyncSequence, Sendable {
        let start: Target
        let maximumPageCount: Int
        let fetch: @Sendable (Target, PageLink?) async throws -> FetchedPage<Target, Element>

        /// Starts with the first page.
        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(self) }

        /// Reads page by page.
        public struct AsyncIterator: AsyncIteratorProtocol {
            private let pages: Pages
            /// What follows the page before; `nil` before the first.
            private var upcoming: Result<NextPage<Element>.Step, any Error>?
            private var seen: Set<AnyHashable> = []
            private var count = 0

            init(_ pages: Pages) {
                self.pages = pages
            }

            /// The next page, `nil` after the last.
            public mutating func next() async throws -> Element? {
                let step = upcoming
                // An error below is the end.
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

            /// Refuses an earlier page, and one too many.
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

/// A page, and what follows it.
struct FetchedPage<Target: TargetType, Page: Sendable>: Sendable {
    let page: Page
    /// Where the request for it went.
    let place: PageLink
    let next: Result<Provider<Target>.NextPage<Page>.Step, any Error>
}
