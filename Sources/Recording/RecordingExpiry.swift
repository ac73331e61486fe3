import Foundation
import Pipeline

/// How old an entry may be when it answers a request, and what happens when it is older.
///
/// The age is the time from the entry's `startedDateTime` to the date of the provider's clock. An entry without one does not
/// expire.
///
/// ```swift
/// .after(.seconds(30 * 86_400), .recordAgain)
/// ```
public struct RecordingExpiry: Sendable {
    /// What happens when an entry is too old.
    public struct Action: Sendable {
        enum Kind {
            case warn(@Sendable (Recording.Entry) -> Void)
            case fail
            case recordAgain
        }

        let kind: Kind

        /// It answers, and ``Recording/expired`` lists it.
        public static let warn = Action(kind: .warn { _ in })
        /// It answers, ``Recording/expired`` lists it, and the closure is called.
        public static func warn(_ report: @escaping @Sendable (Recording.Entry) -> Void) -> Action {
            Action(kind: .warn(report))
        }
        /// The request fails with the code `recording.expired`.
        public static let fail = Action(kind: .fail)
        /// The request is sent, and its answer takes the entry's place; where nothing may be recorded, as ``fail``.
        ///
        /// When the request fails, the entry stays as it is.
        public static let recordAgain = Action(kind: .recordAgain)
    }

    let limit: (age: Duration, action: Action)?

    /// Entries of any age.
    public static let never = RecordingExpiry(limit: nil)

    /// Entries that are at most so old.
    ///
    /// - Parameters:
    ///   - age: zero or more.
    ///   - action: what happens with older ones.
    /// - Returns: a rule.
    public static func after(_ age: Duration, _ action: Action = .fail) -> RecordingExpiry {
        precondition(age >= .zero, "age is \(age), not zero or more")
        return RecordingExpiry(limit: (age, action))
    }

    var recordsAgain: Bool {
        guard case .recordAgain? = limit?.action.kind else { return false }
        return true
    }

    /// What happens with an entry; `nil` when it is not too old.
    func action(for entry: Recording.Entry, _ clock: PipelineClock) -> Action.Kind? {
        guard let limit, let start = entry.start else { return nil }
        return clock.date.timeIntervalSince(start) > limit.age / .seconds(1) ? limit.action.kind : nil
    }
}
