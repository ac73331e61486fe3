import Foundation
import Pipeline
import PipelineTesting
import TestSupport
import Testing

private enum Account: RequestOptions.Key { static let defaultValue = "" }

/// How the account of a call gets into its requests.
private enum AccountSetting: String, CaseIterable, CustomTestStringConvertible {
    case target
    case prepare
    case exchange
    case innermost
    case identified
    case account

    var testDescription: String { rawValue }

    /// How many requests two calls of each account send, twice.
    var sentCounts: ClosedRange<Int> {
        switch self {
        // The cache can compare the accounts, but a plugin that shares cannot.
        case .exchange: 2...4
        case .innermost: 8...8
        default: 2...2
        }
    }

    var plugins: (authentication: [any PluginType], inside: [any PluginType]) {
        switch self {
        case .target: ([], [])
        case .prepare:
            ([.prepare { request, context in Self.set(&request, context) }], [])
        case .exchange: ([Self.setter], [])
        case .innermost: ([], [Self.setter])
        case .identified:
            (
                [
                    .prepare { _, context in
                        context.addIdentity("test \(context.options[Account.self])", of: .authorization)
                    }
                ],
                [Self.setter]
            )
        case .account: ([AccountPlugin()], [])
        }
    }

    static func set(_ request: inout PipelineRequest, _ context: PipelineContext) {
        request.headers[.authorization] = "Bearer \(context.options[Account.self])"
    }

    private static let setter = PluginStack.exchange(name: "setter") { request, context, send in
        var request = request
        set(&request, context)
        return try await send(request)
    }
}

/// A plugin that asks for the account once per call, and sets its credential on each hop.
private final class AccountPlugin: Stage.Prepare, Stage.Exchange {
    func prepare(_ request: inout PipelineRequest, context: PipelineContext) async throws {
        guard context.account(of: self) == nil else { return }
        context.setAccount(context.options[Account.self], of: self, in: .authorization)
    }

    func exchange(
        _ request: PipelineRequest,
        context: PipelineContext,
        send: Stage.Send
    ) async throws -> PipelineResponse {
        var request = request
        request.headers[.authorization] = context.account(of: self).map { "Bearer \($0)" }
        return try await send(request)
    }
}

/// Two accounts that make equal calls, with each of the stacks.
@Suite("Plugins of another package in place of ours: two accounts", .watched)
struct StrangersAccountTests {
    @Test(
        "D10 G02 Neither account gets a response of the other, wherever the credential is set",
        arguments: StrangersStack.allCases,
        AccountSetting.allCases
    )
    fileprivate func accounts(stack: StrangersStack, setting: AccountSetting) async {
        let plugins = setting.plugins
        let bench = StrangersBench(stack, authentication: plugins.authentication, inside: plugins.inside) {
            request,
            _ in
            let fields: HTTPFields = [.cacheControl: "max-age=60", .eTag: "\"v\""]
            let account = request.headers[.authorization]?.split(separator: " ").last.map(String.init) ?? "none"
            return .delayed(.seconds(1), .status(200, headers: fields, body: account))
        }
        let accounts = ["alice", "bob", "alice", "bob"]
        let calls = accounts.map { account in
            let headers = setting == .target ? ["Authorization": "Bearer \(account)"] : nil
            return StrangersCall(Ask(headers: headers, options: RequestOptions { $0[Account.self] = account }))
        }
        for round in 1...2 {
            let texts = await bench.results(calls).map { $0.response.map { String(decoding: $0.data, as: UTF8.self) } }
            #expect(texts == accounts, "round \(round)")
        }
        let sentCount = bench.transport.sent.count
        #expect(setting.sentCounts.contains(sentCount))
    }
}
