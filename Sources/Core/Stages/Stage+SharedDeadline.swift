import Synchronization

extension Stage {
    /// Until when an exchange is of use that several calls wait for: the latest of their deadlines.
    ///
    /// A plugin that lets calls share an exchange runs it within ``run(_:)``, and extends the deadline for each call
    /// that joins. Plugins inside then wait until ``PipelineContext/latestDeadline``, not until the deadline of the
    /// call that leads.
    public final class SharedDeadline: Sendable {
        /// The deadline of the exchange in which this code runs; `nil` outside of one.
        ///
        /// A call that is made within a shared exchange must not wait for another shared exchange, because two could
        /// wait for each other.
        @TaskLocal public static var current: Stage.SharedDeadline?

        /// The deadline of an exchange whose leading call has none.
        public static let unlimited = Stage.SharedDeadline(nil)

        private let moment: Mutex<PipelineClock.Instant?>

        /// Creates the deadline of an exchange.
        ///
        /// - Parameter moment: the deadline of the call that leads; `nil` if it has none, as for ``unlimited``.
        public init(_ moment: PipelineClock.Instant?) { self.moment = Mutex(moment) }

        /// The latest deadline; `nil` if one of the calls has none.
        public var latest: PipelineClock.Instant? { moment.withLock { $0 } }

        /// Notes that another call waits for the exchange.
        ///
        /// - Parameter deadline: the deadline of that call; `nil` if it has none.
        public func extend(to deadline: PipelineClock.Instant?) {
            moment.withLock { moment in
                guard let known = moment else { return }
                moment = deadline.map { max(known, $0) }
            }
        }

        /// Begins work that belongs to the exchange, such as ``Stage/Next/start(_:then:)``.
        public func run<Output>(_ work: () -> Output) -> Output { Self.$current.withValue(self, operation: work) }
    }
}

extension PipelineContext {
    /// The moment until which a request may wait, and be of use; `nil` if that is not limited.
    ///
    /// It is the call's own ``deadline``, or within a shared exchange the latest deadline of the calls that share it.
    /// One that joins may change it, so read it again before each wait.
    public var latestDeadline: PipelineClock.Instant? {
        if let shared = Stage.SharedDeadline.current { shared.latest } else { deadline }
    }
}
