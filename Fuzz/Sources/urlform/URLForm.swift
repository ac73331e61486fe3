import Foundation
import Pipeline

#if FUZZER
import FuzzSupport
#endif

/// Fuzzes URLs and forms.
///
/// The first byte selects parameters that are encoded and decoded, or any path and query of an endpoint.
#if FUZZER
@_cdecl("LLVMFuzzerTestOneInput")
#endif
public func fuzzURLForm(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = FuzzInput(start, count)
    switch input.number(below: 4) {
    case 0: makeURL(&input)
    case 1: makeTarget(&input)
    default: encodeAndDecode(&input)
    }
    return 0
}

private struct FuzzTarget: TargetType {
    let baseURL: URL
    let path: String
    let method = HTTPMethod.get
    let task = RequestTask.requestPlain
}

/// Uses any text as the URL of an endpoint, followed by parameters.
private func makeURL(_ input: inout FuzzInput) {
    let prefix = ["", "https://h", "https://h/", "http://h/?"][input.number(below: 4)]
    let parameters: RequestParameters = input.number(below: 2) == 0 ? [:] : [input.text(upTo: 10): input.text(upTo: 10)]
    let task = RequestTask.requestParameters(parameters: parameters, encoding: URLEncoding.queryString)
    check(Endpoint(url: prefix + String(decoding: input.remainder(), as: UTF8.self), task: task))
}

/// Uses any text as the path of a target.
private func makeTarget(_ input: inout FuzzInput) {
    let base = ["https://h", "https://h/v1", "https://h/v1/?a=b", "https://h/#f"][input.number(below: 4)]
    guard let url = URL(string: base) else { return }
    let endpoint = Endpoint(FuzzTarget(baseURL: url, path: String(decoding: input.remainder(), as: UTF8.self)))
    if let request = check(endpoint) {
        require(request.host == "h", "the path changes the host to \(request.host ?? "none")")
    }
}

/// Checks that the endpoint is refused with a typed error, or that its request line contains only valid bytes.
@discardableResult
private func check(_ endpoint: Endpoint) -> PipelineRequest? {
    do {
        let request = try endpoint.makeRequest()
        let path = request.head.path ?? ""
        require(path.utf8.first == UInt8(ascii: "/"), "the request target does not begin with a slash")
        require(
            path.utf8.allSatisfy { allowed.contains($0) },
            "the request target contains a byte that must be escaped"
        )
        require(everyPercentSignIsEscape(path), "the request target has a percent sign without two digits")
        let authority = request.head.authority ?? ""
        require(
            !authority.isEmpty && authority.utf8.allSatisfy { allowed.contains($0) || $0 == 91 || $0 == 93 },
            "the host is empty or contains a byte that must be escaped"
        )
        return request
    } catch let error as PipelineError {
        require(error.code.isKind(of: .invalidRequest), "unexpected error code: \(error)")
        require(
            error.reason.utf8.allSatisfy { $0 >= 32 && $0 != 127 },
            "the reason of an error contains a control character"
        )
    } catch {
        require(false, "expected a PipelineError: \(error)")
    }
    return nil
}

private func encodeAndDecode(_ input: inout FuzzInput) {
    var single: [String: String] = [:]
    var lists: [String: [String]] = [:]
    for _ in 0..<input.number(below: 4) { single[input.text(upTo: 12)] = input.text(upTo: 12) }
    for _ in 0..<input.number(below: 3) {
        let key = input.text(upTo: 12)
        guard single[key] == nil else { continue }
        lists[key] = (0..<input.number(below: 4)).map { _ in input.text(upTo: 12) }
    }
    let isBody = input.number(below: 2) == 1
    let encoding = URLEncoding(destination: isBody ? .httpBody : .queryString, arrayEncoding: .noBrackets)
    var parameters: RequestParameters = single
    for (key, list) in lists { parameters[key] = list }
    let task = RequestTask.requestParameters(parameters: parameters, encoding: encoding)
    guard let request = check(Endpoint(url: "https://h/", method: .post, task: task)) else {
        return require(false, "the request with the encoded parameters is refused")
    }
    let text = isBody ? String(decoding: request.body.bytes ?? Data(), as: UTF8.self) : request.query ?? ""
    require(text.utf8.allSatisfy { allowed.contains($0) }, "the encoded parameters contain a byte that must be escaped")
    let expected = pairs(of: single.mapValues { [$0] }.merging(lists) { first, _ in first })
    require(decoded(text) == expected, "decoding gives other parameters: \(text.debugDescription)")
}

/// Returns the values of each name in their order; the order of the names does not matter.
private func pairs(of parameters: [String: [String]]) -> [[UInt8]: [[UInt8]]] {
    var pairs: [[UInt8]: [[UInt8]]] = [:]
    for (name, values) in parameters where !values.isEmpty { pairs[Array(name.utf8)] = values.map { Array($0.utf8) } }
    return pairs
}

private func decoded(_ text: String) -> [[UInt8]: [[UInt8]]] {
    var pairs: [[UInt8]: [[UInt8]]] = [:]
    for pair in text.utf8.split(separator: UInt8(ascii: "&")) {
        let sides = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
        require(sides.count == 2, "an encoded parameter has no equals sign")
        pairs[unescaped(sides[0]), default: []].append(unescaped(sides[1]))
    }
    return pairs
}

private func unescaped(_ text: Substring.UTF8View) -> [UInt8] {
    var bytes: [UInt8] = []
    var rest = Array(text)[...]
    while let byte = rest.popFirst() {
        guard byte == UInt8(ascii: "%") else {
            bytes.append(byte)
            continue
        }
        let digits = String(decoding: rest.prefix(2), as: UTF8.self)
        bytes.append(UInt8(digits, radix: 16) ?? 0)
        rest = rest.dropFirst(2)
    }
    return bytes
}

private func everyPercentSignIsEscape(_ text: String) -> Bool {
    let bytes = Array(text.utf8)
    return bytes.indices.allSatisfy { index in
        guard bytes[index] == UInt8(ascii: "%") else { return true }
        return index + 2 < bytes.count
            && bytes[index + 1...index + 2].allSatisfy { Character(Unicode.Scalar($0)).isHexDigit }
    }
}

/// The bytes that RFC 3986 allows in a path and a query, and the percent sign.
private let allowed = Set(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*+,;=:@/?%".utf8
)
