/// What happens to a request when every entry that matches it has been used.
public enum ReplayEnd: Sendable {
    /// Fails the request with the code `recording.usedUp`.
    case fail
    /// Replays the last matching entry, as often as there are requests.
    case repeatLast
    /// Replays the matching entries from the first one on, in order.
    case cycle
}
