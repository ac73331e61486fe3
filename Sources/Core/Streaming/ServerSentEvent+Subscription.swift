import Synchronization

extension ServerSentEvent {
    /// A sequence of Server-Sent Events that reconnects when a stream ends or the network fails.
    ///
    /// ```swift
    /// let news = provider.serverSentEvents(.news)
    /// for try await event in news {
    ///     show(try event.map(News.self))
    /// }
    /// ```
    ///
    /// **Effects**
    ///
    /// - The request is sent when the loop asks for the first event. Leaving the loop closes the stream, except at the
    ///   top level of `main.swift`, where Swift keeps the iterator until the program ends.
    /// - A second loop over the same subscription resumes after ``lastEventID``. Run one loop at a time: concurrent
    ///   loops have separate connections, but share ``lastEventID`` and ``restart()``.
    /// - Events are decoded outside the reader's actor, at most 128 ahead of the reader. A slow reader slows down the
    ///   server, if the transport supports backpressure.
    ///
    /// **Errors**: the loop ends with the errors that `Provider.serverSentEvents` lists.
    public struct Subscription: AsyncSequence, Sendable {
        /// An event that the server sent.
        public typealias Element = ServerSentEvent

        private let settings: EventSource.Settings
        private let progress: SubscriptionProgress

        init(lastEventID: String, _ settings: EventSource.Settings) {
            self.settings = settings
            progress = SubscriptionProgress(lastEventID: lastEventID)
        }

        /// The ID that the next connection resumes after.
        ///
        /// It is the ID of the last event that was read. When a stream has ended, it is the ID of the last complete
        /// block. Until the server sends an ID, it is the ID that the subscription was created with, which is empty by
        /// default. Store it to resume the subscription after the program restarts.
        public var lastEventID: String { progress.lastEventID }

        /// The events together with comments, opened streams, and waits before the next attempt to connect.
        ///
        /// ```swift
        /// for try await notice in news.notices {
        ///     if let event = notice.event { show(try event.map(News.self)) }
        ///     if notice.response != nil { hideBanner() }
        ///     if let reconnection = notice.reconnection { showBanner("Reconnecting in \(reconnection.delay)") }
        /// }
        /// ```
        ///
        /// Iterating over the notices subscribes, as iterating over the events does. The error that ends the
        /// subscription is thrown. Every other error is in the notice of the reconnection that follows it.
        public var notices: some AsyncSequence<Notice, any Error> & Sendable {
            EventNotices(settings: settings, progress: progress, reportsComments: true)
        }

        /// Closes the stream and reconnects immediately, resuming after the last event ID.
        ///
        /// Call it when the connection is probably dead, for example after a network change, or to skip a wait. Events
        /// that have already arrived are delivered first. The reconnection time and the count of failed attempts do not
        /// change. It has no effect while the subscription is not being read.
        public func restart() { progress.restarts.raise() }

        /// Returns an iterator that subscribes when the first event is requested.
        public func makeAsyncIterator() -> AsyncIterator {
            let notices = EventNotices(settings: settings, progress: progress, reportsComments: false)
            return AsyncIterator(notices: notices.makeAsyncIterator())
        }

        /// An iterator over the events of a subscription.
        public struct AsyncIterator: AsyncIteratorProtocol {
            private var notices: EventNotices.AsyncIterator

            fileprivate init(notices: EventNotices.AsyncIterator) {
                self.notices = notices
            }

            /// Waits for the next event and returns it, or returns `nil` after the last one.
            public mutating func next() async throws -> ServerSentEvent? {
                while let notice = try await notices.next() {
                    if let event = notice.event { return event }
                }
                return nil
            }
        }
    }
}

/// The state that all copies of a subscription share.
final class SubscriptionProgress: Sendable {
    let restarts = RestartSignal()
    private let id: Mutex<String>

    init(lastEventID: String) {
        id = Mutex(lastEventID)
    }

    var lastEventID: String {
        get { id.withLock { $0 } }
        set { id.withLock { $0 = newValue } }
    }
}

/// The notices of one loop over a subscription.
private struct EventNotices: AsyncSequence, Sendable {
    typealias Element = ServerSentEvent.Subscription.Notice

    let settings: EventSource.Settings
    let progress: SubscriptionProgress
    let reportsComments: Bool

    func makeAsyncIterator() -> AsyncIterator {
        let values = StreamedResponse.Values { EventSource(settings, progress, reportsComments: reportsComments) }
        return AsyncIterator(values: values.makeAsyncIterator(), progress: progress)
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var values: StreamedResponse.Values<Element>.AsyncIterator
        fileprivate let progress: SubscriptionProgress

        mutating func next() async throws -> Element? {
            let notice = try await values.next()
            // Set here because events are decoded ahead of the reader.
            if let event = notice?.event { progress.lastEventID = event.id }
            return notice
        }
    }
}
