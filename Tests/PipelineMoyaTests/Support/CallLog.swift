import Foundation
import PipelineMoya
import Synchronization

/// What plugins and callbacks were called with, in order.
final class CallLog: Sendable {
    private let lines = Mutex<[String]>([])

    var entries: [String] { lines.withLock { $0 } }

    func add(_ line: String) { lines.withLock { $0.append(line) } }
}

/// A plugin that logs its calls and where they run, and marks the request.
final class LoggedPlugin: PluginType {
    let name: String
    let log: CallLog
    var replacement: Result<Response, MoyaError>?
    var showsPlace = false

    init(_ name: String, _ log: CallLog) {
        self.name = name
        self.log = log
    }

    private func add(_ what: String) {
        log.add("\(name).\(what)" + (showsPlace ? " on \(Place.current)" : ""))
    }

    func prepare(_ request: URLRequest, target: any TargetType) -> URLRequest {
        add("prepare")
        var request = request
        let marks = request.value(forHTTPHeaderField: "X-Marks") ?? ""
        request.setValue(marks + name, forHTTPHeaderField: "X-Marks")
        return request
    }

    func willSend(_ request: any RequestType, target: any TargetType) {
        add("willSend \(request.request?.value(forHTTPHeaderField: "X-Marks") ?? "-")")
    }

    func didReceive(_ result: Result<Response, MoyaError>, target: any TargetType) {
        add("didReceive \(result.text)")
    }

    func process(_ result: Result<Response, MoyaError>, target: any TargetType) -> Result<Response, MoyaError> {
        add("process \(result.text)")
        return replacement ?? result
    }
}

/// The queue that code runs on, because on Linux any thread may serve the main queue.
enum Place {
    private static let key = DispatchSpecificKey<String>()
    private static let isMarked: Bool = {
        DispatchQueue.main.setSpecific(key: key, value: "main")
        return true
    }()

    static func queue(_ name: String) -> DispatchQueue {
        let queue = DispatchQueue(label: name)
        queue.setSpecific(key: key, value: name)
        return queue
    }

    static var current: String {
        _ = isMarked
        return DispatchQueue.getSpecific(key: key) ?? "background"
    }
}

extension Result where Success == Response, Failure == MoyaError {
    var text: String {
        switch self {
        case .success(let response): "\(response.statusCode)"
        case .failure(.underlying(AFError.explicitlyCancelled, _)): "cancelled"
        case .failure(.underlying(AFError.responseValidationFailed(.unacceptableStatusCode(let code)), _)):
            "rejected \(code)"
        case .failure(.underlying(AFError.sessionTaskFailed(let error as URLError), _)):
            "failed with URLError \(error.code.rawValue)"
        case .failure(.underlying(let error as URLError, _)): "URLError \(error.code.rawValue)"
        case .failure(.underlying(MoyaError.statusCode(let response), _)): "status \(response.statusCode)"
        case .failure(.underlying(let error as NSError, _)): "\(error.domain) \(error.code)"
        case .failure(let error): "\(error)".prefix { $0 != "(" }.description
        }
    }

    var error: MoyaError? {
        if case .failure(let error) = self { error } else { nil }
    }

    var response: Response? { try? get() }
}

extension MoyaProvider {
    /// Sends a target and returns the result that the completion receives.
    func result(of target: Target, on queue: DispatchQueue? = nil) async -> Result<Response, MoyaError> {
        await withCheckedContinuation { continuation in
            request(target, callbackQueue: queue) { continuation.resume(returning: $0) }
        }
    }
}
