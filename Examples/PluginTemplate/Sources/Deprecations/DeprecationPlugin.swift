public import PipelineCore
import Synchronization

/// A plugin that reports responses whose servers announce that a resource is deprecated.
///
/// ```swift
/// DeprecationPlugin { deprecation in
///     logger.warning("\(deprecation.resource) is deprecated")
/// }
/// ```
///
/// **Effects**
///
/// - Calls the handler for the first response of each resource that has a valid announcement, whatever its status.
/// - A resource is an origin and a path. Methods and queries do not count.
/// - After `maximumReportCount` resources, reports no others, so that neither memory nor a log grows without bound.
/// - Copies of the plugin share what they have reported. Each `DeprecationPlugin(…)` starts afresh.
/// - Does not run for a response that is served from a cache. Changes neither requests nor results.
/// - Ignores calls whose option `reportsDeprecation` is `false`.
///
/// **Defaults**
///
/// | setting | default |
/// |---|---|
/// | `maximumReportCount` | 100 resources |
///
/// **Position**: has no influence, because the plugin only observes responses as they are received.
///
/// **Secrets**: a report has the path of the request, but neither its query nor any other field.
public struct DeprecationPlugin: Stage.DidReceive {
    /// The resources that were reported.
    private final class Reports: Sendable {
        private let resources = Mutex<Set<String>>([])

        /// Returns whether the resource is new and there is room for it, and remembers it if so.
        func add(_ resource: String, upTo count: Int) -> Bool {
            resources.withLock { $0.count < count && $0.insert(resource).inserted }
        }
    }

    private let reports = Reports()
    private let maximumReportCount: Int
    private let handler: @Sendable (Deprecation) -> Void

    /// Makes a plugin.
    ///
    /// - Parameters:
    ///   - maximumReportCount: the number of resources that the plugin reports at most, not negative; defaults to 100.
    ///   - handler: receives each announcement. It must return quickly, because the exchange waits for it.
    public init(maximumReportCount: Int = 100, handler: @escaping @Sendable (Deprecation) -> Void) {
        precondition(maximumReportCount >= 0, "maximumReportCount is \(maximumReportCount), less than zero")
        self.maximumReportCount = maximumReportCount
        self.handler = handler
    }

    /// Reports the announcement of a response, if it has one that was not reported before.
    public func didReceive(_ result: Result<PipelineResponse, PipelineError>, context: PipelineContext) {
        guard context.options.reportsDeprecation, case .success(let response) = result,
            let deprecation = Deprecation(response),
            reports.add(deprecation.resource, upTo: maximumReportCount)
        else { return }
        handler(deprecation)
    }
}
