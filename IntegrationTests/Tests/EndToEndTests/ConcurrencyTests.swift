import Foundation
import Pipeline
import TestSupport
import Testing

@Suite("httpbin: concurrent calls", .besideHTTPBin, .realTime, .watched)
struct ConcurrencyTests {
    @Test("64 concurrent calls each get their own response")
    func requests() async throws {
        let provider = Provider<Anything>()
        let answers = try await withThrowingTaskGroup(of: (Int, Echo).self) { group in
            for index in 0..<64 {
                let method: HTTPRequest.Method = index.isMultiple(of: 2) ? .post : .put
                let target = Anything(
                    method: method,
                    below: "/\(index)",
                    task: .requestData(Data(repeating: UInt8(ascii: "x"), count: index * 100)),
                    headers: ["X-Index": "\(index)"]
                )
                group.addTask { (index, try await provider.request(target, as: Echo.self)) }
            }
            return try await group.reduce(into: [:]) { $0[$1.0] = $1.1 }
        }
        #expect(answers.count == 64)
        for (index, echo) in answers {
            #expect(echo.url.hasSuffix("/anything/\(index)"))
            #expect(echo.headers["X-Index"] == "\(index)")
            #expect(echo.data.count == index * 100)
            #expect(echo.method == (index.isMultiple(of: 2) ? "POST" : "PUT"))
        }
    }

    @Test("32 concurrent streams each get their own bytes")
    func streams() async throws {
        struct Letters: HTTPBinTarget {
            let byteCount: Int
            var path: String { "/range/\(byteCount)" }
        }
        let provider = Provider<Letters>()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 1...32 {
                group.addTask {
                    var data = Data()
                    for try await chunk in try await provider.stream(Letters(byteCount: index * 3_000)).body {
                        data.append(chunk)
                    }
                    #expect(data == rangeSample(0..<index * 3_000))
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("200 sequential calls on one provider all succeed")
    func sequence() async throws {
        let provider = Provider<Anything>()
        for index in 0..<200 {
            let echo = try await provider.request(Anything(below: "/\(index)"), as: Echo.self)
            #expect(echo.url.hasSuffix("/\(index)"))
        }
    }
}
