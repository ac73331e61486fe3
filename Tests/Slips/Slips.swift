// Typical mistakes and names of Moya. `scripts/slips` checks that the compiler reports what each comment expects.

import Foundation
import HTTPTypes
import Pipeline
import PipelinePlugins
import PipelineTransports

struct Zen: TargetType {
    var baseURL: URL { Endpoint.url("https://zen.example") }
    var path: String { "zen" }
    // expected-error @+1 {{write HTTPMethod for Moya.Method, RequestTask for Task}}
    var method: Moya.Method { .get }
    var task: RequestTask { .requestPlain }
}

func moya() {
    // expected-error @+1 {{'MoyaProvider' has been renamed to 'Provider'}}
    _ = MoyaProvider<Zen>(
        transport: StubTransport(),
        // expected-error @+1 {{'NetworkLoggerPlugin' has been renamed to 'LoggingPlugin'}}
        plugins: [NetworkLoggerPlugin(level: .error)]
    )
    // expected-error @+2 {{'init(endpointClosure:stubClosure:plugins:)' is unavailable: pass a transport: Provider(}}
    // expected-error @+1 {{'immediatelyStub' is unavailable: pass a transport: Provider(}}
    _ = Provider<Zen>(stubClosure: Provider.immediatelyStub)
    // expected-error @+1 {{'init(tokenClosure:)' has been renamed to 'init(token:)'}}
    _ = AccessTokenPlugin(tokenClosure: { _ in "token" })
}

func errors(_ provider: Provider<Zen>) async {
    do {
        _ = try await provider.request(Zen())
        // expected-error @+2 {{catch let error as PipelineError where error.code.isKind(of: .timeout)}}
        // expected-error @+1 {{'~=' is unavailable: match the code of the error}}
    } catch PipelineError.timeout {
        // expected-error @+2 {{catch let error as PipelineError where error.code == .offline}}
        // expected-error @+1 {{'~=' is unavailable: match the code of the error}}
    } catch PipelineError.offline {
        // expected-error @+1 {{'MoyaError' has been renamed to 'PipelineError'}}
    } catch let error as MoyaError {
        // expected-error @+1 {{'==' is unavailable: a kind has several codes: write code.isKind(of: .timeout)}}
        _ = error.code == .timeout
        // expected-error @+1 {{'!=' is unavailable: a kind has several codes: write !code.isKind(of: .timeout)}}
        _ = error.code != .timeout
        switch error {
        // expected-error @+2 {{'timeout' is unavailable: catch let error as PipelineError where}}
        // expected-error @+1 {{'~=' is unavailable: match the code of the error}}
        case .timeout: break
        default: break
        }
    } catch {}
}

/// A stack in an array literal is not a mistake: its plugins take its place.
func stack() -> Provider<Zen> {
    Provider(transport: StubTransport(), plugins: [.standard(), PluginStack.standard()])
}
