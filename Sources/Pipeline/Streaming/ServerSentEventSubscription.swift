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
/// - Nothing is sent before the first event is asked for. Leaving the loop closes the exchange, except at the top level of `main.swift`,
///   where Swift keeps the iterator until the program ends.
/// - Another loop over the same subscription continues after ``lastEventID``. Read it in one loop at a time: loops that run at once
///   each have a connection of their own, but share ``lastEventID`` and ``restart()``.
/// - Events are decoded away from the reader's actor, and at most 128 ahead of the reader. A slow reader slows the server down, as far
///   as the transport can.
///
/// **Errors**: those of `Provider.serverSentEvents`. An error ends the loop.
public struct ServerSentEventSubscription: AsyncSequence, Sendable {
    /// An event.
    public typealias Element = ServerSentEvent

    private let settings: EventSource.Settings
    private let progress: SubscriptionProgress

    init(lastEventID: String, _ settings: EventSource.Settings) {
        self.settings = settings
        progress = SubscriptionProgress(lastEventID: lastEventID)
    }

    /// The ID to continue after: that of the last event that was read, or of the last complete block of a stream that has ended.
    ///
    /// Store it to resume the subscription after a restart of the program. Empty while the server has sent no ID.
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
    /// Reading them subscribes, as reading the events does. The failure that ends the subscription is thrown; every other is in the
    /// notice of the reconnection that follows it.
    public var notices: some AsyncSequence<Notice, any Error> & Sendable {
        EventNotices(settings: settings, progress: progress, reportsComments: true)
    }

    /// Closes the stream and connects at once, from the last event ID.
    ///
    /// Use it when the connection is likely to be dead, for example after a change of the network, or to skip a wait. Events that
    /// have arrived are read first. It changes neither the reconnection time nor the count of failed attempts, and has no effect
    /// while the subscription is not being read.
    public func restart() { progress.restarts.raise() }

    /// Subscribes.
    public func makeAsyncIterator() -> AsyncIterator {
        let notices = EventNotices(settings: settings, progress: progress, reportsComments: false)
        return AsyncIterator(notices: notices.makeAsyncIterator())
    }

    /// Reads event by event.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private var notices: EventNotices.AsyncIterator

        fileprivate init(notices: EventNotices.AsyncIterator) {
            self.notices = notices
        }

        /// The next event, `nil` when the server has no more.
        public mutating func next() async throws -> ServerSentEvent? {
            while let notice = try await notices.next() {
                if let event = notice.event { return event }
            }
            return nil
        }
    }
}

/// What all copies of a subscription share.
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
            // Here and not where events are decoded, which is ahead of the reader.
            if let event = notice?.event { progress.lastEventID = event.id }
            return notice
        }
    }
}
