import Foundation
import PipelineCore

/// The age up to which an entry may be replayed, and what happens to an older one.
///
/// The age of an entry is the time from its `startedDateTime` to the date of the provider's clock, or to the system's
/// date if the provider uses ``ReplayTransport/configuration``. An entry without a `startedDateTime` never expires.
///
/// ```swift
/// .after(.seconds(30 * 86_400), .rerecord)
/// ```
public struct RecordingExpiry: Sendable {
    /// The action for an entry that is too old.
    public enum Action: Sendable {
        /// Replays the entry, adds it to ``HARRecording/expired``, and calls the closure.
        case warn(@Sendable (HARRecording.Entry) -> Void)
        /// Fails the request with the code `recording.expired`.
        case fail
        /// Sends the request and replaces the entry with the response.
        ///
        /// If the request fails, the entry stays unchanged. A transport or a mode that does not record fails as with
        /// ``fail``.
        case rerecord
    }

    let limit: (age: Duration, action: Action)?

    /// A rule under which entries never expire.
    public static let never = RecordingExpiry(limit: nil)

    /// Returns a rule under which entries expire after a maximum age.
    ///
    /// - Parameters:
    ///   - age: the highest age of an entry that is replayed; zero or more.
    ///   - action: what happens to older entries.
    /// - Returns: the rule.
    public static func after(_ age: Duration, _ action: Action = .fail) -> RecordingExpiry {
        precondition(age >= .zero, "age is \(age), not zero or more")
        return RecordingExpiry(limit: (age, action))
    }

    var rerecords: Bool {
        guard case .rerecord? = limit?.action else { return false }
        return true
    }

    /// Returns the action for an entry, or `nil` if it is not too old.
    func action(for entry: HARRecording.Entry, at date: Date) -> Action? {
        guard let limit, let start = entry.start else { return nil }
        return date.timeIntervalSince(start) > limit.age / .seconds(1) ? limit.action : nil
    }
}
