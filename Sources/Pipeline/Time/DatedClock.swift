public import Foundation

/// A clock that also knows the date, for dates that a server has written.
///
/// A provider asks a clock that is none for the system's date.
public protocol DatedClock: Clock {
    /// The present date.
    var date: Date { get }
}
