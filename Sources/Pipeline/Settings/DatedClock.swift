public import Foundation

/// A clock that also knows the date, for dates that a server has written.
///
/// With any other clock, a provider uses the system's date.
public protocol DatedClock: Clock {
    /// The current date.
    var date: Date { get }

    /// The moment from which a ``PipelineClock`` counts; defaults to the moment at which it wraps the clock.
    ///
    /// Return a fixed moment to make the instants of all providers that share the clock comparable.
    var origin: Instant { get }
}

extension DatedClock {
    /// The current moment.
    public var origin: Instant { now }
}
