import Foundation
import HTTPTypes
import PipelinePlugins
import TestSupport
import Testing

@testable import PipelineResilience

@Suite("Header fields RateLimit and RateLimit-Policy", .watched)
struct QuotaFieldsTests {
    @Test(
        "A used-up quota asks for a wait; anything malformed is ignored",
        arguments: [
            // Examples of the draft.
            (#""default";r=50;t=30"#, nil, nil),
            (#""default";r=999;pk=:dHJpYWwxMjEzMjM=:"#, nil, nil),
            (#""problemPolicy";r=0;t=10"#, nil, 10),
            (#""default";r=0"#, #""default";q=100;w=10"#, 10),
            (#""perhr";r=0"#, #""permin";q=50;w=60,"perhr";q=1000;w=3600"#, 3_600),
            (#""peruser";r=0;t=3;pk=:cHsdsRa894==:"#, #""peruser";q=100;w=60;pk=:cHsdsRa894==:"#, 3),
            (#""peruser";r=0;t=3"#, #""peruser";q=65535;qu="content-bytes";w=10"#, 3),
            // Several limits, other parameters, white space.
            (#""a";r=0;t=5, "b";r=0;t=9, "c";r=1;t=99"#, nil, 9),
            (#""a";r=0;t=5;acme-burst=3;x"#, nil, 5),
            (#"  "a"; r=0; t=5  "#, nil, 5),
            (#""a";r=1;r=0;t=5"#, nil, 5),
            (#""a";r=0;t=0"#, nil, 0),
            (#""a";r=0;t=999999999999999"#, nil, 999_999_999_999_999),
            // Without a time, and quotas that time does not restore.
            (#""a";r=0"#, nil, nil), (#""a";r=0"#, #""b";q=1;w=5"#, nil), (#""a";r=0"#, "malformed;", nil),
            (#""a";r=0;t=5"#, #""a";q=8;qu="concurrent-requests""#, nil),
            (#""a";r=0;t=5"#, #""a";q=8;qu=token"#, 5),
            // Malformed.
            ("", nil, nil), (",", nil, nil), (#""a";r=0;t=5,"#, nil, nil),  // Forms of earlier drafts.
            (#"default;r=0;t=5"#, nil, 5), ("limit=100, remaining=0, reset=5", nil, 5),
            ("limit=100, remaining=1, reset=5", nil, nil), ("limit=100, remaining=0", nil, nil),
            // Malformed.

            (#""a;r=0;t=5"#, nil, nil), (#"("a");r=0;t=5"#, nil, nil), (#"1;r=0;t=5"#, nil, nil),
            (#""a";t=5"#, nil, nil), (#""a";r;t=5"#, nil, nil), (#""a";r=-1;t=5"#, nil, nil),
            (#""a";r=0.0;t=5"#, nil, nil), (#""a";r="0";t=5"#, nil, nil), (#""a";r=0;t=-5"#, nil, nil),
            (#""a";r=0;t=5.5"#, nil, nil), (#""a";r=0;t=soon"#, nil, nil), (#""a";r=0;t=5;pk="x""#, nil, nil),
            (#""a";r=0;t=5, "b";t=5"#, nil, nil), (#""a";R=0;t=5"#, nil, nil),
            (#""a";r=0;t=1000000000000000"#, nil, nil),
        ] as [(String, String?, Int64?)]
    )
    func wait(limit: String, policy: String?, seconds: Int64?) throws {
        var fields = HTTPFields()
        fields[try #require(HTTPField.Name("ratelimit"))] = limit
        if let policy { fields[try #require(HTTPField.Name("RateLimit-Policy"))] = policy }
        #expect(QuotaFields.wait(in: fields, .standard, now: .distantPast) == seconds.map { .seconds($0) })
    }

    @Test("Fields of more than 1 KiB are ignored", arguments: [1_024, 1_025])
    func length(byteCount: Int) throws {
        let isRead = byteCount == 1_024
        let (limit, policy) = (try #require(HTTPField.Name("RateLimit")), HTTPField.Name("RateLimit-Policy"))
        for start in [#""a";r=0;t=5;x="#, "limit=100, remaining=0, reset=5, x="] {
            let fields: HTTPFields = [limit: start + String(repeating: "x", count: byteCount - start.utf8.count)]
            #expect(QuotaFields.wait(in: fields, .standard, now: .distantPast) == (isRead ? .seconds(5) : nil))
        }
        let start = #""a";q=9;w=7;x="#
        let long = start + String(repeating: "x", count: byteCount - start.utf8.count)
        let fields: HTTPFields = [limit: #""a";r=0"#, try #require(policy): long]
        #expect(QuotaFields.wait(in: fields, .standard, now: .distantPast) == (isRead ? .seconds(7) : nil))
    }

    @Test(
        "V11: separate fields are read as numbers of seconds, or as moments, if they are asked for",
        arguments: [
            ("RateLimit-", "0", "7", RateLimitPlugin.Signals.rateLimit, 7), ("RateLimit-", "1", "7", .rateLimit, nil),
            ("X-RateLimit-", "0", "7", .xRateLimit, 7), ("X-Rate-Limit-", "0", "7", .xRateLimit, 7),
            ("X-RateLimit-", "0", "1767225609", .xRateLimit, 9), ("X-RateLimit-", "0", "1767225599", .xRateLimit, 0),
            ("X-RateLimit-", "0", "7", .standard, nil), ("X-RateLimit-", "0", "-7", .xRateLimit, nil),
            ("X-RateLimit-", "0", "soon", .xRateLimit, nil), ("X-RateLimit-", "none", "7", .xRateLimit, nil),
            ("X-RateLimit-", "0", "1e400", .xRateLimit, nil),
        ] as [(String, String, String, RateLimitPlugin.Signals, Int64?)]
    )
    func separate(
        prefix: String,
        remaining: String,
        reset: String,
        signals: RateLimitPlugin.Signals,
        seconds: Int64?
    ) throws {
        var fields = HTTPFields()
        fields[try #require(HTTPField.Name(prefix + "Remaining"))] = remaining
        fields[try #require(HTTPField.Name(prefix + "Reset"))] = reset
        let now = Date(timeIntervalSince1970: 1_767_225_600)
        #expect(QuotaFields.wait(in: fields, signals, now: now) == seconds.map { .seconds($0) })
    }

    @Test("Several fields are one list")
    func several() throws {
        let name = try #require(HTTPField.Name("RateLimit"))
        let fields = HTTPFields([#""a";r=0;t=5"#, #""b";r=0;t=7"#].map { HTTPField(name: name, value: $0) })
        #expect(QuotaFields.wait(in: fields, .standard, now: .distantPast) == .seconds(7))
        #expect(QuotaFields.wait(in: [:], .standard, now: .distantPast) == nil)
    }
}
