import Dispatch

/// Where callbacks run, one after the other.
enum CallbackPlace: Sendable {
    case background
    case queue(DispatchQueue)
    case actor(any Actor)

    /// Runs the work there and waits for its end.
    @concurrent
    func run(_ work: @escaping @Sendable () -> Void) async {
        switch self {
        case .background:
            work()
        case .queue(let queue):
            await withCheckedContinuation { continuation in
                queue.async {
                    work()
                    continuation.resume()
                }
            }
        case .actor(let actor):
            await Self.run(on: actor, work)
        }
    }

    private static func run(on actor: isolated any Actor, _ work: @Sendable () -> Void) async { work() }
}
