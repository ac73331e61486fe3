extension Provider {
    /// The pages of a list, loaded one at a time when asked, for a screen that scrolls.
    ///
    /// ```swift
    /// let pager = provider.pages(.posts(after: nil), of: PostPage.self, next: rule).makePager()
    ///
    /// func loadMore() async throws {
    ///     if let page = try await pager.next() { posts += page.items }
    /// }
    /// ```
    ///
    /// Keep it in a model. Unlike the iterator of ``Pages``, it can be used from any actor, and an error does not end
    /// it: the next call of ``next()`` asks for the same page again.
    public actor Pager<Page: Sendable> {
        private let pages: Pages<Page>
        private var iterator: Pages<Page>.AsyncIterator
        /// Increases with each reset, so that a load that began before it has no effect.
        private var generation = 0
        private let turns = Turns<Int>()

        /// The page that was loaded last; `nil` before the first.
        public private(set) var current: Page?

        init(_ pages: Pages<Page>) {
            self.pages = pages
            iterator = pages.makeAsyncIterator()
        }

        /// Whether the last page has been loaded, so that a list needs no spinner at its end.
        public var isComplete: Bool { iterator.isAtEnd }

        /// Loads the next page.
        ///
        /// A call while another one loads waits for it, and then loads the page after that.
        ///
        /// - Returns: the page; `nil` after the last.
        /// - Throws: the errors of ``Pages``. The page is not lost: call this again to retry. `CancellationError` if
        ///   the task was cancelled, or if ``reset()`` was called meanwhile.
        public func next() async throws -> Page? {
            try await turns.withTurn(0) {
                let generation = self.generation
                var iterator = self.iterator
                let page = try await iterator.next()
                guard generation == self.generation else { throw CancellationError() }
                self.iterator = iterator
                if let page { current = page }
                return page
            }
        }

        /// Begins with the first page again, such as when a list is pulled to refresh.
        public func reset() {
            iterator = pages.makeAsyncIterator()
            current = nil
            generation += 1
        }
    }
}

extension Provider.Pages {
    /// Returns a pager that loads these pages one at a time, beginning with the first.
    public func makePager() -> Provider<Target>.Pager<Element> { Provider<Target>.Pager(self) }
}
