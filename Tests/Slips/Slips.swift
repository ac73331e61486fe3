// Typical mistakes and names of Moya. `scripts/slips` checks that the compiler reports what each comment expects.

import Foundation
import Pipeline

struct Zen: TargetType {
    var baseURL: URL { Endpoint.url("https://zen.example") }
    var path: String { "zen" }
    // error: write HTTPMethod for Moya.Method, RequestTask for Task
    var method: Moya.Method { .get }
    var task: RequestTask { .requestPlain }
}

func moya() {
    // error: 'MoyaProvider' has been renamed to 'Provider'
    _ = MoyaProvider<Zen>(
        transport: StubTransport(),
        // error: 'NetworkLoggerPlugin' has been renamed to 'LoggingPlugin'
        plugins: [NetworkLoggerPlugin(level: .error)]
    )
    // error: 'init(endpointClosure:stubClosure:plugins:)' is unavailable: pass a transport: Provider(
    // error: 'immediatelyStub' is unavailable: pass a transport: Provider(
    _ = Provider<Zen>(stubClosure: Provider.immediatelyStub)
    // error: 'init(tokenClosure:)' has been renamed to 'init(token:)'
    _ = AccessTokenPlugin(tokenClosure: { _ in "token" })
}

func errors(_ provider: Provider<Zen>) async {
    do {
        _ = try await provider.request(Zen())
        // error: catch let error as PipelineError where error.code.isKind(of: .timeout)
        // error: '~=' is unavailable: match the code of the error
    } catch PipelineError.timeout {
        // error: catch let error as PipelineError where error.code == .offline
        // error: '~=' is unavailable: match the code of the error
    } catch PipelineError.offline {
        // error: 'MoyaError' has been renamed to 'PipelineError'
    } catch let error as MoyaError {
        // error: '==' is unavailable: a kind has several codes: write code.isKind(of: .timeout)
        _ = error.code == .timeout
        // error: '!=' is unavailable: a kind has several codes: write !code.isKind(of: .timeout)
        _ = error.code != .timeout
        switch error {
        // error: 'timeout' is unavailable: catch let error as PipelineError where
        // error: '~=' is unavailable: match the code of the error
        case .timeout: break
        default: break
        }
    } catch {}
}

/// A stack in an array literal is not a mistake: its plugins take its place.
func stack() -> Provider<Zen> {
    Provider(transport: StubTransport(), plugins: [.standard(), PluginStack.standard()])
}
