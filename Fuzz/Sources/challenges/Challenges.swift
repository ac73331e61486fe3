import Pipeline
import PipelineAuth

@testable import PipelineCore

#if FUZZER
import FuzzSupport
#endif

/// Fuzzes challenges and Link fields.
///
/// The first byte selects any text as fields, challenges that are written and read back, or any text as a Link field.
#if FUZZER
@_cdecl("LLVMFuzzerTestOneInput")
#endif
public func fuzzChallenges(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = FuzzInput(start, count)
    switch input.number(below: 4) {
    case 0: readAny(&input)
    case 3: readLinks(&input)
    default: writeAndRead(&input)
    }
    return 0
}

/// Checks that the links read from a Link field can be written and read again.
private func readLinks(_ input: inout FuzzInput) {
    let text = String(decoding: input.remainder(), as: UTF8.self)
    let links = LinkField.links(in: text)
    require(links.count <= text.utf8.count / 2, "\(links.count) links cannot fit in \(text.utf8.count) bytes")
    // A combining character merges with the space before it.
    guard text.utf8.allSatisfy({ $0 < 0x80 }) else { return }
    let written = links.map { link in
        let relations = link.relations.joined(separator: " ").map { "\"\\".contains($0) ? "\\\($0)" : "\($0)" }.joined()
        return "<\(link.reference)>\(link.hasAnchor ? "; anchor=x" : ""); rel=\"\(relations)\""
    }
    require(
        LinkField.links(in: written.joined(separator: ", ")) == links,
        "the links that were written are read as others"
    )
}

private func read(_ values: [String]) -> [AuthenticationChallenge] {
    var fields = HTTPFields()
    for value in values { fields.append(HTTPField(name: .wwwAuthenticate, value: value)) }
    return AuthenticationChallenge.challenges(in: fields)
}

/// Checks that any text is read within the bounds, and that the result can be written and read again.
private func readAny(_ input: inout FuzzInput) {
    let lines = input.remainder().split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    let challenges = read(lines.map { String(decoding: $0, as: UTF8.self) })
    require(challenges.count <= 16, "\(challenges.count) challenges, but the limit is 16")
    for challenge in challenges {
        require(isToken(challenge.scheme), "the scheme is not a token")
        require(challenge.parameters.count <= 32, "\(challenge.parameters.count) parameters, but the limit is 32")
        require(challenge.parameters.keys.allSatisfy { isToken($0) && $0 == $0.lowercased() }, "a name is not a token")
        require(challenge.token == nil || challenge.parameters.isEmpty, "a challenge has both a token and parameters")
        require(
            challenge.token?.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != 0x2c } != false,
            "the token contains an invalid character"
        )
        let values = challenge.parameters.values
        require(
            values.allSatisfy { $0.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f || $0 == 9 } },
            "a value has a control character"
        )
    }
    require(
        read([challenges.map(text).joined(separator: ", ")]) == challenges,
        "the challenges that were written are read as others"
    )
    require(read(challenges.map(text)) == challenges, "challenges in several fields are read as others")
}

private func writeAndRead(_ input: inout FuzzInput) {
    var challenges: [AuthenticationChallenge] = []
    var value = ""
    for number in 0..<input.number(below: 5) {
        let scheme = ["Basic", "Digest", "Negotiate", "x-\(number)"][input.number(below: 4)]
        value += value.isEmpty ? "" : [", ", ",", " ,\t, "][input.number(below: 3)]
        guard input.number(below: 4) > 0 else {
            challenges.append(AuthenticationChallenge(scheme: scheme, token: "t0k/en+=="))
            value += scheme + "  t0k/en+=="
            continue
        }
        var parameters: [String: String] = [:]
        for _ in 0..<input.number(below: 4) {
            parameters["p\(input.number(below: 40))"] = cleaned(input.text(upTo: 20))
        }
        challenges.append(AuthenticationChallenge(scheme: scheme, parameters: parameters))
        let blanks = ["", " ", "\t "][input.number(below: 3)]
        value +=
            scheme + " " + parameters.map { "\($0)\(blanks)=\(blanks)\(quoted($1))" }.joined(separator: ",\(blanks)")
    }
    require(read([value]) == challenges, "other challenges were read than written: \(value.debugDescription)")
}

private func text(_ challenge: AuthenticationChallenge) -> String {
    if let token = challenge.token { return challenge.scheme + " " + token }
    let parameters = challenge.parameters.map { "\($0)=\(quoted($1))" }.joined(separator: ", ")
    return challenge.scheme + (parameters.isEmpty ? "" : " " + parameters)
}

private func quoted(_ text: String) -> String {
    let escaped = text.utf8.flatMap { $0 == 0x22 || $0 == 0x5c ? [0x5c, $0] : [$0] }
    return "\"" + String(decoding: escaped, as: UTF8.self) + "\""
}

/// Returns the text without the characters that a quoted string cannot contain.
private func cleaned(_ text: String) -> String {
    String(decoding: text.utf8.filter { $0 >= 0x20 && $0 != 0x7f }, as: UTF8.self)
}

private func isToken(_ text: String) -> Bool { HTTPField.Name(text) != nil }
