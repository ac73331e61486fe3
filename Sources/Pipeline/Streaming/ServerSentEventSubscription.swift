import Synchronization

/// A subscription to Server-Sent Events: the events of one stream after another.
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
/// - Nothing is sent before the first event is requested. Leaving the loop closes the exchange, except at the top level
///   of `main.swift`, where Swift keeps the iterator until the program ends.
/// - Another loop over the same subscription continues after ``lastEventID``. Read it in one loop at a time: concurrent
///   loops have separate connections, but share ``lastEventID`` and ``restart()``.
/// - Events are decoded off the reader's actor, at most 128 ahead of the reader. A slow reader slows down the server,
///   as far as the transport can.
///
/// **Errors**: those of `Provider.serverSentEvents`. An error ends the loop.
public struct ServerSentEventSubscription: AsyncSequence, Sendable {
    /// An event that the server sent.
    public typealias Element = ServerSentEvent

    private let settings: EventSource.Settings
    private let progress: SubscriptionProgress

    init(lastEventID: String, _ settings: EventSource.Settings) {
        self.settings = settings
        progress = SubscriptionProgress(lastEventID: lastEventID)
    }

    /// The ID to continue after: that of the last event that was read, or of the last complete block of a stream that
    /// has ended.
    ///
    /// Store it to resume the subscription after a restart of the program. Until the server sends an ID, it is the ID
    /// that the subscription began with, which is empty by default.
    public var lastEventID: String { progress.lastEventID }

    /// The events, and what happens between them: comments, streams that open, and waits for the next attempt.
    ///
    /// ```swift
    /// for try await notice in news.notices {
    ///     if let event = notice.event { show(try event.map(News.self)) }
    ///     if notice.response != nil { hideBanner() }
    ///     if let reconnection = notice.reconnection { showBanner("Reconnecting in \(reconnection.delay)") }
    /// }
    /// ```
    ///
    /// Reading the notices subscribes, just as reading the events does. The failure that ends the subscription is
    /// thrown. Every other failure is in the notice of the reconnection that follows it.
    public var notices: some AsyncSequence<Notice, any Error> & Sendable {
        EventNotices(settings: settings, progress: progress, reportsComments: true)
    }

    /// Closes the stream and reconnects at once, after the last event ID.
    ///
    /// Use it if the connection is probably dead, for example after a network change, or to skip a wait. Events that
    /// have arrived are read first. The reconnection time and the count of failed attempts do not change. It has no
    /// effect while the subscription is not being read.
    public func restart() { progress.restarts.raise() }

    /// Returns an iterator that subscribes when the first event is requested.
    public func makeAsyncIterator() -> AsyncIterator {
        let notices = EventNotices(settings: settings, progress: progress, reportsComments: false)
        return AsyncIterator(notices: notices.makeAsyncIterator())
    }

    /// An iterator that reads event by event.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private var notices: EventNotices.AsyncIterator

        fileprivate init(notices: EventNotices.AsyncIterator) {
            self.notices = notices
        }

        /// Returns the next event, or `nil` if the server has no more.
        public mutating func next() async throws -> ServerSentEvent? {
            while let notice = try await notices.next() {
                if let event = notice.event { return event }
            }
            return nil
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

/// One reading of a subscription.
private struct EventNotices: AsyncSequence, Sendable {
    typealias Element = ServerSentEventSubscription.Notice

    let settings: EventSource.Settings
    let progress: SubscriptionProgress
    let reportsComments: Bool

    func makeAsyncIterator() -> AsyncIterator {
        let values = StreamedValues { EventSource(settings, progress, reportsComments: reportsComments) }
        return AsyncIterator(values: values.makeAsyncIterator(), progress: progress)
    }

    struct AsyncIterator: AsyncIteratorProtocol {
        fileprivate var values: StreamedValues<Element>.AsyncIterator
        fileprivate let progress: SubscriptionProgress

        mutating func next() async throws -> Element? {
            let notice = try await values.next()
            // Set here because events are decoded ahead of the reader.
            if let event = notice?.event { progress.lastEventID = event.id }
            return notice
        }
    }
}
