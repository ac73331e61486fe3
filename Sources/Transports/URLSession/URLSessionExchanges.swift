import Dispatch
import Foundation
import PipelineCore
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The delegate of a session, which passes events to the exchange they belong to.
///
/// Tasks are created, resumed and cancelled only on the delegate's serial queue, and cancelled only while they are
/// live. On Linux, a task that is cancelled anywhere else hangs or stops the process.
final class URLSessionExchanges: NSObject, Sendable {
    private struct Live {
        var exchanges: [Int: URLSessionExchange] = [:]
        /// The tasks that have not been cancelled, keyed by exchange.
        var tasks: [ObjectIdentifier: URLSessionTask] = [:]

        mutating func insert(_ task: URLSessionTask, _ exchange: URLSessionExchange) {
            exchanges[task.taskIdentifier] = exchange
            tasks[ObjectIdentifier(exchange)] = task
        }

        mutating func remove(_ task: URLSessionTask) -> URLSessionExchange? {
            guard let exchange = exchanges.removeValue(forKey: task.taskIdentifier) else { return nil }
            tasks[ObjectIdentifier(exchange)] = nil
            return exchange
        }
    }

    let queue: OperationQueue
    private let live = Mutex(Live())

    /// - Parameter queue: a serial queue.
    init(queue: OperationQueue = makeQueue()) {
        self.queue = queue
        super.init()
    }

    private static func makeQueue() -> OperationQueue {
        #if canImport(FoundationNetworking)
        URLSessionQueue()
        #else
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        return queue
        #endif
    }

    /// The number of tasks that have not ended.
    var liveTaskCount: Int { live.withLock { $0.exchanges.count } }

    /// Starts an exchange, unless it is closed before the queue reaches it.
    func start(_ exchange: URLSessionExchange, makeTask: @escaping @Sendable () -> URLSessionTask) {
        queue.addOperation { [self] in
            guard exchange.isOpen else { return }
            let task = makeTask()
            live.withLock { $0.insert(task, exchange) }
            task.resume()
        }
    }

    /// Cancels the task of an exchange if it has one that has not ended.
    func cancel(_ exchange: URLSessionExchange) {
        queue.addOperation { [self] in
            guard let task = live.withLock({ $0.tasks.removeValue(forKey: ObjectIdentifier(exchange)) }) else { return }
            task.cancel()
            #if canImport(FoundationNetworking)
            Self.waitUntilCancelled(task)
            #endif
        }
    }

    #if canImport(FoundationNetworking)
    /// Without this wait, the next queued callback finds the task gone and stops the process.
    private static func waitUntilCancelled(_ task: URLSessionTask) {
        let deadline = ContinuousClock.now + .milliseconds(20)
        while task.error == nil, ContinuousClock.now < deadline { usleep(50) }
    }
    #endif

    private func exchange(of task: URLSessionTask) -> URLSessionExchange? {
        live.withLock { $0.exchanges[task.taskIdentifier] }
    }

    /// Returns whether a task waits for a completion handler.
    ///
    /// On Linux, calling it stops the process if the task was cancelled while this callback was queued.
    private func isAwaiting(_ task: URLSessionTask) -> Bool {
        #if canImport(FoundationNetworking)
        guard task.error == nil else { return false }
        return live.withLock { live in
            guard let exchange = live.exchanges[task.taskIdentifier] else { return false }
            return live.tasks[ObjectIdentifier(exchange)] != nil
        }
        #else
        true
        #endif
    }
}

/// A session and its delegate.
///
/// Sessions share no connections. Within a session, a connection of HTTP/2 may also serve another host that its
/// certificate names, and the platform does not ask about that host again.
struct URLSessionOwner: Sendable {
    let session: URLSession
    let exchanges: URLSessionExchanges

    init(_ configuration: URLSessionConfiguration, _ exchanges: URLSessionExchanges) {
        self.exchanges = exchanges
        session = URLSession(configuration: configuration, delegate: exchanges, delegateQueue: exchanges.queue)
    }
}

extension URLSessionExchanges: URLSessionDataDelegate {
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        if isAwaiting(task) { completionHandler(nil) }
    }

    func urlSession(
        _ session: URLSession,
        dataTask: URLSessionDataTask,
        didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        exchange(of: dataTask)?.receive(response)
        if isAwaiting(dataTask) { completionHandler(.allow) }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        exchange(of: dataTask)?.receive(data)
    }

    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didSendBodyData bytesSent: Int64,
        totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        exchange(of: task)?.didSend(
            Int(clamping: totalBytesSent),
            of: Int(clamping: totalBytesExpectedToSend)
        )
    }

    #if canImport(FoundationNetworking)
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        needNewBodyStream completionHandler: @escaping @Sendable (InputStream?) -> Void
    ) {
        completionHandler(exchange(of: task)?.makeBodyStream())
    }
    #endif

    #if !canImport(FoundationNetworking)
    /// Reports the last transaction; redirects are tasks of their own.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didFinishCollecting metrics: URLSessionTaskMetrics
    ) {
        if let transaction = metrics.transactionMetrics.last { exchange(of: task)?.receive(transaction) }
    }
    #endif

    /// Leaves TLS to the platform, except for hosts with a rule or an identity, and rejects other challenges.
    ///
    /// Plugins handle credentials, so the 401 is returned. On Apple platforms, challenges of a proxy are left to the
    /// system, which has its credentials.
    ///
    /// On Linux, the challenge arrives after the whole response. Rejecting it makes the task end as cancelled.
    func urlSession(
        _ session: URLSession,
        task: URLSessionTask,
        didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        #if canImport(FoundationNetworking)
        exchange(of: task)?.complete(response: task.response, error: nil)
        if isAwaiting(task) { completionHandler(.rejectProtectionSpace, nil) }
        #else
        switch challenge.protectionSpace.authenticationMethod {
        case NSURLAuthenticationMethodServerTrust, NSURLAuthenticationMethodClientCertificate:
            // A task without an exchange was cancelled; its connection must not be pooled without a check.
            guard let exchange = exchange(of: task) else {
                return completionHandler(.cancelAuthenticationChallenge, nil)
            }
            switch answer(challenge.protectionSpace, exchange) {
            case .platform: completionHandler(.performDefaultHandling, nil)
            case .credential(let credential): completionHandler(.useCredential, credential)
            case .failure(let failure):
                exchange.fail(failure)
                completionHandler(.cancelAuthenticationChallenge, nil)
            }
        default:
            let isProxy = challenge.protectionSpace.isProxy()
            completionHandler(isProxy ? .performDefaultHandling : .rejectProtectionSpace, nil)
        }
        #endif
    }

    #if !canImport(FoundationNetworking)
    private func answer(_ space: URLProtectionSpace, _ exchange: URLSessionExchange) -> URLSessionTrust.Answer {
        // Rules and identities are for servers. The host is that of the request, because which rule applies must not
        // depend on how the platform writes an IPv6 address.
        guard let trust = exchange.trust, !space.isProxy() else { return .platform }
        guard space.authenticationMethod == NSURLAuthenticationMethodServerTrust else {
            return trust.answerIdentity(of: exchange.host)
        }
        guard let serverTrust = space.serverTrust else {
            return .failure(PipelineError(.tls(.handshake), "the platform gave no certificate of the server to check"))
        }
        return trust.answer(serverTrust, of: exchange.host, exchange.context)
    }
    #endif

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let exchange = live.withLock({ $0.remove(task) }) else { return }
        // On Linux, reading the response waits for a queue of the task.
        let response = exchange.hasHead ? nil : task.response
        exchange.complete(response: response, error: error, isRedirect: response == nil && Self.isRedirect(task))
    }

    /// Returns whether the header fields of a task without a response have arrived.
    ///
    /// On Linux, these are those of a redirect. From then on, the length of the body is not zero: -1 if it is unknown.
    private static func isRedirect(_ task: URLSessionTask) -> Bool {
        #if canImport(FoundationNetworking)
        task.countOfBytesExpectedToReceive != 0
        #else
        false
        #endif
    }
}

#if canImport(FoundationNetworking)
/// A serial queue that runs the callbacks of a session.
///
/// Foundation on Linux adds only blocks to a delegate queue. `OperationQueue` wraps each block in an operation, which
/// costs 13 more allocations per callback.
// The superclass is Sendable, and the only property added is a dispatch queue that never changes.
final class URLSessionQueue: OperationQueue, @unchecked Sendable {
    private let queue = DispatchQueue(label: "URLSessionTransport")

    override func addOperation(_ block: @escaping @Sendable () -> Void) { queue.async(execute: block) }

    /// Keeps the order for operations too, although Foundation adds none today.
    override func addOperation(_ operation: Operation) { queue.async { operation.start() } }
}
#endif
