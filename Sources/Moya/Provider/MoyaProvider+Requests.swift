public import Dispatch
import Foundation
import HTTPTypes
import PipelineCore
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension MoyaProvider {
    /// Sends or stubs a target.
    public func requestNormal(
        _ target: Target,
        callbackQueue: DispatchQueue?,
        progress: Moya.ProgressBlock?,
        completion: @escaping Moya.Completion
    ) -> any Cancellable {
        let endpoint = endpoint(target)
        let behavior = stubClosure(target)
        let cancellable = RequestCancellable()
        var complete: Completion = { [plugins] result in
            completion(plugins.reduce(result) { $1.process($0, target: target) })
        }
        if trackInflights {
            complete = inflights.tracked(complete, of: endpoint)
        }
        let proceed = CrossingValue { (result: Result<URLRequest, MoyaError>) in
            switch (cancellable.start(), result) {
            case (.ignore, _):
                break
            case (.endCancelled, _):
                for plugin in self.plugins { plugin.didReceive(.failure(.cancelled), target: target) }
                complete(.failure(.cancelled))
            case (.begin, .failure(let error)):
                complete(.failure(error))
            case (.begin, .success(let request)) where behavior == .never:
                let call = PreparedCall(
                    target: target,
                    request: request,
                    endpoint: endpoint,
                    plugins: self.plugins,
                    queue: callbackQueue ?? .main,
                    progress: progress,
                    complete: complete
                )
                self.send(call, cancellable)
            case (.begin, .success(let request)):
                let token = self.stubRequest(
                    target,
                    request: request,
                    callbackQueue: callbackQueue,
                    completion: complete,
                    endpoint: endpoint,
                    stubBehavior: behavior
                )
                cancellable.pass(to: token)
            }
        }
        requestClosure(endpoint) { proceed.value($0) }
        return cancellable
    }

    /// Sends a request with the native provider, or completes it if it cannot be sent.
    private func send(_ call: PreparedCall<Target>, _ cancellable: RequestCancellable) {
        var native: URLTarget
        let shared: MoyaCall
        do {
            shared = MoyaCall(call.request, ownPlugins, call.target, session)
            native = try call.native(shared)
            // Otherwise, MoyaPluginsStage sets what was prepared.
            if ownPlugins.isEmpty, session.interceptor == nil { native.options.idleTimeout = call.request.ownTimeout }
        } catch {
            call.complete(.failure(error as? MoyaError ?? .underlying(error, nil)))
            return
        }
        let requests = session.requests
        guard let key = requests.add(cancellable) else {
            call.complete(.failure(.underlying(AFError.sessionInvalidated(error: nil), nil)))
            return
        }
        let delivery = Delivery(call: call)
        var report: (@Sendable (PipelineCore.ProgressResponse) -> Void)?
        if call.progress != nil { report = { delivery.report($0) } }
        let description = { [native] in native.description }
        let task = provider.request(PipelineCore.MultiTarget(native), progress: report) { result in
            requests.remove(key)
            delivery.deliver(result, to: shared.request)
        }
        cancellable.pass(to: CancellableToken(request: description) { task.cancel() })
    }
}

/// A request of a target that is ready to be sent.
struct PreparedCall<Target: TargetType> {
    let target: Target
    let request: URLRequest
    let endpoint: Endpoint
    let plugins: [any PluginType]
    let queue: DispatchQueue
    let progress: ProgressBlock?
    let complete: Completion

    /// Makes the native target.
    func native(_ call: MoyaCall) throws -> URLTarget {
        let url = request.url?.absoluteString ?? endpoint.url
        guard let method = HTTPRequest.Method(rawValue: request.httpMethod ?? "GET") else {
            throw MoyaError.requestMapping(url)
        }
        var native = URLTarget(
            url,
            method: method,
            task: try endpoint.task.native(request),
            headers: request.sentFields
        )
        native.validationType = target.validationType.native
        native.authorizationType = (target as? any AccessTokenAuthorizable)?.authorizationType.map { .custom($0.value) }
        native.options[CurrentMoyaCall.self] = call
        return native
    }
}

/// Delivers progress and the result of a request on its callback queue.
// The callbacks run on the queue; the progress is guarded by the mutex.
private final class Delivery<Target: TargetType>: @unchecked Sendable {
    private let call: PreparedCall<Target>
    private let counts = Mutex((completed: Int64(0), total: Int64(0)))

    init(call: PreparedCall<Target>) {
        self.call = call
    }

    func report(_ step: PipelineCore.ProgressResponse) {
        guard !step.completed else { return }
        let total = Int64(step.transfer.totalByteCount ?? 0)
        counts.withLock { $0 = (completed: Int64(step.transfer.byteCount), total: total) }
        let progress = CrossingValue(progress)
        call.queue.async { self.call.progress?(ProgressResponse(progress: progress.value)) }
    }

    private var progress: Progress {
        let counts = counts.withLock { $0 }
        let progress = Progress(totalUnitCount: counts.total)
        progress.completedUnitCount = counts.completed
        return progress
    }

    func deliver(_ result: Result<PipelineResponse, PipelineError>, to request: URLRequest) {
        let result: Result<Response, MoyaError> =
            switch result {
            case .success(let response): .success(Response(response, to: request))
            case .failure(let error): .failure(MoyaError(error, error.response.map { Response($0, to: request) }))
            }
        call.queue.async { [self] in
            for plugin in call.plugins { plugin.didReceive(result, target: call.target) }
            call.progress?(ProgressResponse(progress: progress, response: try? result.get()))
            call.complete(result)
        }
    }
}

extension MoyaProvider {
    /// Sends a target and returns its response.
    ///
    /// Cancelling the task cancels the request.
    ///
    /// - Throws: ``MoyaError``.
    @_disfavoredOverload  // Moya lacks this function, and many apps have their own, which may return a `Result`.
    public func request(_ target: Target) async throws -> Response {
        let handle = RequestCancellable()
        let result: Result<Response, MoyaError> = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let request = CrossingValue(request(target) { continuation.resume(returning: $0) })
                handle.pass(to: CancellableToken { request.value.cancel() })
            }
        } onCancel: {
            handle.cancel()
        }
        return try result.get()
    }
}

/// The requests that are in progress, with the completions that wait for each.
// The lock guards the table.
final class InflightRequests: @unchecked Sendable {
    private let lock = NSLock()
    private var table: [Endpoint: [(id: Int, completion: Completion)]] = [:]
    private var count = 0

    var all: [Endpoint: [Completion]] { lock.withLock { table.mapValues { $0.map(\.completion) } } }

    /// Adds a completion and returns one that calls it and then removes it.
    func tracked(_ completion: @escaping Completion, of endpoint: Endpoint) -> Completion {
        let id = lock.withLock {
            count += 1
            table[endpoint, default: []].append((count, completion))
            return count
        }
        return { [self] result in
            completion(result)
            lock.withLock {
                table[endpoint]?.removeAll { $0.id == id }
                if table[endpoint]?.isEmpty == true { table[endpoint] = nil }
            }
        }
    }
}
