public import Foundation

extension PipelineClock {
    /// A clock that also knows the date, which is needed to interpret dates from a server.
    ///
    /// With any other clock, a provider uses the system's date.
    public protocol DatedClock: Clock {
        /// The current date of the clock.
        var date: Date { get }

        /// The moment from which a ``PipelineClock`` counts; defaults to the moment at which it wraps the clock.
        ///
        /// Return a fixed moment to make the instants of all providers that share the clock comparable.
        var origin: Instant { get }
    }
}

extension PipelineClock.DatedClock {
    /// The moment of the access, so a ``PipelineClock`` counts from when it wraps the clock.
    public var origin: Instant { now }
}
