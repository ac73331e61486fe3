import Foundation
import HTTPTypes
import PipelineAuth
import PipelineCore
import PipelinePlugins
import Synchronization

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A value that crosses to another thread without being `Sendable`.
// Users of Moya hand targets, plugins and closures to other threads, one after another; that is Moya's contract.
struct CrossingValue<Value>: @unchecked Sendable {
    let value: Value

    init(_ value: Value) {
        self.value = value
    }
}

/// A request on its way through the plugins of a provider.
final class MoyaCall: Sendable {
    private struct State {
        var request: URLRequest
        var credential: PasswordCredential?
    }

    private let plugins: CrossingValue<[any PluginType]>
    private let target: CrossingValue<any TargetType>
    private let original: URLRequest
    private let state: Mutex<State>

    let session: Session

    init(_ request: URLRequest, _ plugins: [any PluginType], _ target: any TargetType, _ session: Session) {
        self.plugins = CrossingValue(plugins)
        self.target = CrossingValue(target)
        self.session = session
        original = request
        state = Mutex(State(request: request))
    }

    /// The request as the plugins and the adapter have prepared it so far.
    var request: URLRequest { state.withLock { $0.request } }

    /// The header fields that the session adds.
    var sessionHeaders: [String: String] { session.headers }

    /// What plugins set to answer a challenge with.
    var credential: PasswordCredential? {
        get { state.withLock { $0.credential } }
        set { state.withLock { $0.credential = newValue } }
    }

    /// Runs `prepare` and `willSend` of all plugins and returns the prepared request.
    func prepare() -> URLRequest {
        let request = plugins.value.reduce(original) { $1.prepare($0, target: target.value) }
        state.withLock { $0.request = request }
        let sent = SentRequest(request: request, call: self)
        for plugin in plugins.value { plugin.willSend(sent, target: target.value) }
        return request
    }

    /// Returns the request to send instead of the original; `nil` if it is the same.
    func replacement() async throws -> URLRequest? {
        var request = prepare()
        if let interceptor = session.interceptor {
            request = try await interceptor.adapted(request, session)
            state.withLock { [request] in $0.request = request }
        }
        return request.content == original.content ? nil : request
    }
}

/// What plugins see in `willSend`.
private struct SentRequest: RequestType {
    let request: URLRequest?
    let call: MoyaCall

    var sessionHeaders: [String: String] { call.sessionHeaders }

    func authenticate(username: String, password: String, persistence: URLCredential.Persistence) -> SentRequest {
        call.credential = PasswordCredential(username: username, password: password)
        return self
    }

    func authenticate(with credential: URLCredential) -> SentRequest {
        guard let user = credential.user, let password = credential.password else { return self }
        return authenticate(username: user, password: password, persistence: credential.persistence)
    }

    func cURLDescription(calling handler: @escaping (String) -> Void) -> SentRequest {
        if let request = request.flatMap({ try? PipelineRequest($0) }) {
            handler("$ " + request.curlCommand(redactor: .hidingSecrets(in: request.headers.map(\.name))))
        } else {
            handler("$ curl command could not be created")
        }
        return self
    }
}

/// The option that carries a call to ``MoyaPluginsStage``.
enum CurrentMoyaCall: RequestOptions.Key {
    static var defaultValue: MoyaCall? { nil }
}

/// Runs `prepare` and `willSend` of the provider's plugins and then the session's adapter, outside all native plugins.
struct MoyaPluginsStage: Stage.Prepare {
    func prepare(_ request: inout PipelineRequest, context: PipelineContext) async throws {
        guard let call = context.options[CurrentMoyaCall.self] else { return }
        let prepared = try await call.replacement()
        request.idleTimeout = call.request.ownTimeout
        guard let prepared else { return }
        var replacement = try PipelineRequest(prepared)
        if [.file, .multipart].contains(context.endpoint.task.kind) {
            replacement.body = request.body
            if context.endpoint.task.kind == .multipart {
                replacement.headers[.contentType] = request.headers[.contentType]
            }
        }
        request = replacement
    }
}

/// The credentials that plugins have set with `authenticate`, the latest of each user.
final class ChallengeCredentials: Sendable {
    private let passwords = Mutex<[String: String]>([:])

    /// A plugin that answers challenges with the credential of the call.
    var plugin: PipelineAuth.CredentialsPlugin {
        PipelineAuth.CredentialsPlugin(
            account: { [self] target in
                guard let credential = target.options[CurrentMoyaCall.self]?.credential else { return "" }
                passwords.withLock { $0[credential.username] = credential.password }
                return credential.username
            },
            credential: { [self] username, _ in
                passwords.withLock { $0[username] }.map { PasswordCredential(username: username, password: $0) }
            }
        )
    }
}

/// A transport that applies `URLRequest.timeoutInterval` to the wait for the header fields of a response.
///
/// The idle timeout of the request limits the waits that follow. For a file or a form, which may take longer to send,
/// only the limits of the wrapped transport apply before the header fields.
struct HeadTimeoutTransport: Transport {
    let wrapped: any Transport

    var name: String { wrapped.name }
    var capabilities: Set<PluginCapability> { wrapped.capabilities }
    var decodesContent: Bool { wrapped.decodesContent }
    var unsupportedSettings: [UnsupportedSetting] { wrapped.unsupportedSettings }

    func identity(for request: PipelineRequest) -> String? { wrapped.identity(for: request) }

    // The default of `enforcesIdleTimeout(_:)`, `false`, makes the core ask for a stream, whose head comes first.

    func send(_ request: PipelineRequest, context: PipelineContext) async throws -> PipelineResponse {
        guard let limit = context.options[CurrentMoyaCall.self]?.request.ownTimeout,
            ![.file, .multipart].contains(context.endpoint.task.kind)
        else { return try await wrapped.send(request, context: context) }
        return try await withThrowingTaskGroup(of: PipelineResponse?.self) { group in
            group.addTask { try await wrapped.send(request, context: context) }
            group.addTask {
                try await context.clock.sleep(until: context.clock.now.advanced(by: limit))
                return nil
            }
            defer { group.cancelAll() }
            guard let response = try await group.next() ?? nil else {
                throw PipelineError(.timeout(.head), "no header fields came within timeoutInterval, \(limit)")
            }
            return response
        }
    }
}
