/// The behavior for a request when every entry that matches it has been used.
public enum ReplayEnd: Sendable {
    /// Fails the request with the code `recording.usedUp`.
    case fail
    /// Replays the last matching entry for every further request.
    case repeatLast
    /// Replays the matching entries again in order, starting with the first.
    case cycle
}
