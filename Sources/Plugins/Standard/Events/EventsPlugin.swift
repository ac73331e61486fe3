import Foundation
public import PipelineCore
import Synchronization

/// A plugin that reports calls as they happen, for an app's own debug screen.
///
/// ```swift
/// let events = EventsPlugin()
/// let provider = Provider<GitHub>(transport: transport, plugins: [events, .standard()])
/// for await event in events.events() {
///     if case .finished(let outcome) = event.kind { screen.show(outcome, of: event.callID) }
/// }
/// ```
///
/// **Effects**
///
/// - Reports when a call begins, its exchanges, and its outcome, to all sequences of ``events(bufferedCount:)``.
/// - Without a sequence, does nothing.
///
/// **Position**: outside plugins that end calls before they reach it, such as ``DeduplicationPlugin``; otherwise, such
/// a call has only an outcome.
///
/// **Secrets**: requests contain their credentials. Their descriptions do not, and neither do cURL commands of a
/// redactor.
public final class EventsPlugin: Stage.Prepare, Stage.DidReceive, Stage.DidFinish {
    private struct State {
        var readers: [Int: AsyncStream<EventsPlugin.Event>.Continuation] = [:]
        var readerCount = 0
        var eventCount = 0
    }

    private let state = Mutex(State())

    /// Creates a plugin, which providers may share.
    public init() {}

    /// Returns the events from now on, up to the end of the plugin; each sequence gets all events.
    ///
    /// - Parameter bufferedCount: the number of events that wait for a slow reader, 1 and up. The oldest are dropped
    ///   first.
    /// - Returns: the sequence.
    public func events(bufferedCount: Int = 1_000) -> AsyncStream<EventsPlugin.Event> {
        precondition(bufferedCount > 0, "bufferedCount is \(bufferedCount), not 1 or more")
        let (events, reader) = AsyncStream.makeStream(
            of: EventsPlugin.Event.self,
            bufferingPolicy: .bufferingNewest(bufferedCount)
        )
        let number = state.withLock { state in
            state.readerCount += 1
            state.readers[state.readerCount] = reader
            return state.readerCount
        }
        reader.onTermination = { [weak self] _ in self?.remove(number) }
        return events
    }

    deinit { for reader in state.withLock({ Array($0.readers.values) }) { reader.finish() } }

    private func remove(_ number: Int) { state.withLock { _ = $0.readers.removeValue(forKey: number) } }

    /// Reports that the call has begun; does not change the request.
    public func prepare(_ request: inout PipelineRequest, context: PipelineContext) async throws {
        // Inside a plugin that retries, each attempt passes here.
        if context.attempt == 1 { report(.began(request), context) }
    }

    /// Reports an exchange that has ended.
    public func didReceive(_ result: Result<PipelineResponse, PipelineError>, context: PipelineContext) {
        guard let exchange = result.exchanges.last(where: { $0.id == context.exchangeID }) else { return }
        report(.exchange(exchange), context)
    }

    /// Reports the outcome of the call.
    public func didFinish(_ outcome: Stage.Outcome, context: PipelineContext) { report(.finished(outcome), context) }

    private func report(_ kind: @autoclosure () -> EventsPlugin.Event.Kind, _ context: PipelineContext) {
        guard state.withLock({ !$0.readers.isEmpty }) else { return }
        let (kind, date) = (kind(), context.clock.date)
        // Under the lock, so that each reader gets the events in the order of their numbers.
        state.withLock { state in
            state.eventCount += 1
            let event = EventsPlugin.Event(
                id: state.eventCount,
                kind: kind,
                callID: context.callID,
                parentID: context.parentID,
                target: context.target,
                date: date
            )
            for reader in state.readers.values { reader.yield(event) }
        }
    }
}
