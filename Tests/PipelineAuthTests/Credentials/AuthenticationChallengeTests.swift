import Foundation
import HTTPTypes
import PipelineAuth
import PipelinePlugins
import TestSupport
import Testing

@Suite("AuthenticationChallenge", .watched)
struct AuthenticationChallengeTests {
    static func read(_ values: String...) -> [String] {
        var fields = HTTPFields()
        for value in values { fields.append(HTTPField(name: .wwwAuthenticate, value: value)) }
        return AuthenticationChallenge.challenges(in: fields).map(text)
    }

    /// `scheme token {name=value …}`, the parameters sorted.
    private static func text(_ challenge: AuthenticationChallenge) -> String {
        let parameters = challenge.parameters.sorted { $0.key < $1.key }.map { "\($0)=\($1)" }
        return "\(challenge.scheme) \(challenge.token ?? "-") {\(parameters.joined(separator: " "))}"
    }

    @Test("Several fields are parsed in order, each on its own")
    func severalFields() {
        #expect(
            Self.read("Digest realm=a, nonce=\"b", "Basic realm=c", "realm=d", "Bearer") == [
                "Basic - {realm=c}", "Bearer - {}",
            ]
        )
    }

    @Test("At most 16 challenges are parsed, and none with more than 32 parameters")
    func bounds() {
        let many = (0..<40).map { "S\($0) a=b" }.joined(separator: ", ")
        #expect(Self.read(many) == (0..<16).map { "S\($0) - {a=b}" })
        #expect(Self.read(many, "Last") == (0..<16).map { "S\($0) - {a=b}" })
        #expect(Self.read("S0", many).count == 16)
        for count in [32, 33] {
            let parameters = (0..<count).map { "p\($0)=1" }.joined(separator: ", ")
            #expect(Self.read("Digest " + parameters + ", Basic").count == (count == 32 ? 2 : 1))
        }
    }

    @Test("Schemes and parameter names are case-insensitive")
    func names() {
        let challenge = AuthenticationChallenge(scheme: "DiGest", parameters: ["Realm": "a", "x": "y"])
        #expect(challenge.isScheme("digest"))
        #expect(!challenge.isScheme("basic"))
        #expect(challenge.realm == "a")
        #expect(challenge["X"] == "y")
        #expect(challenge == AuthenticationChallenge(scheme: "DiGest", parameters: ["realm": "a", "X": "y"]))
        #expect(AuthenticationChallenge(scheme: "Negotiate", token: "a").token == "a")
    }

    @Test("Proxy-Authenticate is parsed in the same way")
    func proxy() {
        let fields: HTTPFields = [.proxyAuthenticate: "Basic realm=p"]
        #expect(AuthenticationChallenge.challenges(in: fields, name: .proxyAuthenticate).map(\.realm) == ["p"])
        #expect(AuthenticationChallenge.challenges(in: fields).isEmpty)
    }
}
