import Foundation
import Pipeline
import TestSupport
import Testing

@Suite("JSONEncoding, leaves", .watched)
struct ParameterTreeLeafTests {
    @Test("NSNumber and NSDecimalNumber keep their kind and all their digits")
    func numberObjects() throws {
        let parameters: RequestParameters = [
            "bool": NSNumber(value: true), "int": NSNumber(value: 7), "byte": NSNumber(value: Int8(5)),
            "unsigned": NSNumber(value: UInt64.max), "lowest": NSNumber(value: Int64.min),
            "double": NSNumber(value: 1.5), "float": NSNumber(value: Float(1.1)),
            "decimal": NSDecimalNumber(string: "1.25"), "one": NSDecimalNumber(string: "1"),
        ]
        let json = """
            {"bool":true,"byte":5,"decimal":1.25,"double":1.5,"float":1.1,"int":7,"lowest":-9223372036854775808,\
            "one":1,"unsigned":18446744073709551615}
            """
        #expect(try JSONEncodingTests.body(parameters) == json)
    }

    @Test("If a date encoding throws, the typed error names the key and has the cause as underlying error")
    func throwingDateEncoding() throws {
        struct NoSuchDay: Error {}
        let encoding = JSONEncoding(dateEncoding: .custom { _ in throw NoSuchDay() })
        let error = #expect(throws: PipelineError.self) {
            try JSONEncodingTests.body(["born": Date.distantPast], encoding)
        }
        #expect(error?.code == .encoding)
        #expect(error?.reason.contains("born") == true)
        #expect(error?.underlyingError is NoSuchDay)
    }
}
