import Foundation
import Pipeline
import PipelineAPI
import PipelineTesting
import TestSupport
import Testing

@Suite("Dates of APIRequest", .watched)
struct DateCodingStrategyTests {
    private let bench = APIBench(ScriptedTransport(always: .ok))

    private func send(_ request: APIRequest<IgnoredBody>) async throws -> PipelineRequest {
        _ = try await bench.api.send(request.method(.post))
        return try #require(bench.transport.sent.last)
    }

    @Test(
        "C18 C70 C71 B-C24 A strategy writes dates the same way in JSON, queries and forms",
        arguments: [
            (DateCodingStrategy.iso8601, #""2001-09-09T01:46:40Z""#, "2001-09-09T01:46:40Z"),
            (.secondsSince1970, "1000000000.25", "1000000000.25"),
            (.millisecondsSince1970, "1000000000250", "1000000000250"),
            (.formatted("yyyy/MM"), #""2001\/09""#, "2001/09"),
        ]
    )
    func dates(strategy: DateCodingStrategy, json: String, text: String) async throws {
        let request = APIRequest<IgnoredBody>("x").dateEncodingStrategy(strategy)
        _ = try await send(request.payload(PayloadTests.Signup()))
        #expect(bench.sentText == #"{"born":\#(json),"name":"Ann"}"#)
        _ = try await send(request.query(PayloadTests.Signup()))
        #expect(bench.paths.last?.removingPercentEncoding == "x?name=Ann&born=\(text)")
    }

    @Test(
        "C70 C71 A strategy reads dates, and ISO 8601 is the default",
        arguments: [
            (DateCodingStrategy?.none, #""2001-09-09T01:46:40Z""#), (.iso8601, #""2001-09-09T01:46:40Z""#),
            (nil, #""2001-09-09T01:46:40.000Z""#), (.iso8601, #""2001-09-09T03:46:40+02:00""#),
            (nil, #""2001-09-08T20:46:40.000-05:00""#), (nil, #""2001-09-09T03:46:40.000+0200""#),
            (.secondsSince1970, "1000000000"), (.millisecondsSince1970, "1000000000000"),
            (.formatted("yyyy/MM/dd HH-mm-ss"), #""2001/09/09 01-46-40""#),
        ]
    )
    func readDates(strategy: DateCodingStrategy?, body: String) async throws {
        let bench = APIBench(.status(200, body: body))
        let request = APIRequest<Date>("x")
        let date = try await bench.api.send(strategy.map { request.dateDecodingStrategy($0) } ?? request)
        #expect(date == Date(timeIntervalSince1970: 1_000_000_000))
    }

    @Test("Fractional seconds in ISO 8601 are kept; text that is not a date is an error that does not quote it")
    func fraction() async throws {
        let bench = APIBench(.status(200, body: #""2001-09-09T01:46:40.250Z""#), .status(200, body: #""hunter2""#))
        let date = try await bench.api.send(APIRequest<Date>("x"))
        #expect(abs(date.timeIntervalSince1970 - 1_000_000_000.25) < 0.0001)
        let error = await pipelineError { _ = try await bench.api.send(APIRequest<Date>("x")) }
        #expect(error?.code == .mapping(.object) && !"\(String(describing: error))".contains("hunter2"))
    }

    @Test(
        "Text that continues after a date, or ends within it, is not a date",
        arguments: [
            "2001-09-09T01:46:40Zone", "2001-09-09T01:46:40Z/2001-09-09T01:46:41Z", "2001-09-09T01:46:40+01:00 [Rome]",
            "2001-09-09T01:46:40.25Z ", "2001-09-09T01:46:40", "2001-09-09", "",
        ]
    )
    func noDates(text: String) async throws {
        let bench = APIBench(.status(200, body: "\"\(text)\""))
        let error = await pipelineError { _ = try await bench.api.send(APIRequest<Date>("x")) }
        #expect(error?.code == .mapping(.object))
    }

    @Test("An offset from UTC is read", arguments: ["+01:00", "-11:00", "+0100", "+01", ".5+01:00"])
    func offsets(zone: String) async throws {
        let bench = APIBench(.status(200, body: "\"2001-09-09T01:46:40\(zone)\""))
        let date = try await bench.api.send(APIRequest<Date>("x"))
        let hours = zone == "-11:00" ? -11.0 : 1
        #expect(date.timeIntervalSince1970.rounded(.down) == 1_000_000_000 - hours * 3_600)
    }

    @Test(
        "A date that is not finite or has no text form cannot be encoded, and nothing is sent",
        arguments: [
            (DateCodingStrategy.iso8601, [Double.nan, .infinity, -.infinity, 253_402_300_800, -1e12, 1e300]),
            (.formatted("yyyy-MM-dd"), [.nan, .infinity, 253_402_300_800, -1e12, 1e300]),
            (.secondsSince1970, [.nan, .infinity]), (.millisecondsSince1970, [.nan, .infinity, 1e306]),
        ]
    )
    func unencodableDates(strategy: DateCodingStrategy, seconds: [Double]) async throws {
        struct Moment: JSONPayload { var at: Date }
        let request = APIRequest<IgnoredBody>("x").method(.post).dateEncodingStrategy(strategy)
        for seconds in seconds {
            let moment = Moment(at: Date(timeIntervalSince1970: seconds))
            for request in [request.payload(moment), request.query(moment)] {
                let error = await pipelineError { _ = try await bench.api.send(request) }
                #expect(error?.code == .encoding && error?.reason.contains("at") == true, "\(seconds)")
            }
        }
        #expect(bench.transport.sent.isEmpty)
    }

    @Test("A date is valid if its year is valid in the formatter's time zone")
    func yearOfZone() async throws {
        struct Moment: JSONPayload { var at = Date.distantPast }
        for (hours, text) in [(-1, nil), (0, #"{"at":"0001-01-01"}"#), (1, #"{"at":"0001-01-01"}"#)] {
            let formatter = DateFormatter()
            formatter.locale = Locale(identifier: "en_US_POSIX")
            formatter.timeZone = TimeZone(secondsFromGMT: hours * 3_600)
            formatter.dateFormat = "yyyy-MM-dd"
            let bench = APIBench(ScriptedTransport(always: .ok))
            let request = APIRequest<IgnoredBody>("x", payload: Moment()).method(.post)
            let error = await pipelineError {
                _ = try await bench.api.send(request.dateEncodingStrategy(.formatted(formatter)))
            }
            #expect(error?.code == (text == nil ? .encoding : nil))
            #expect(bench.sentText == text ?? "")
        }
    }

    @Test("The earliest and the latest representable dates are sent")
    func firstAndLastDate() async throws {
        struct Span: JSONPayload { var from = Date.distantPast, to = Date(timeIntervalSince1970: 253_402_300_799) }
        _ = try await send(APIRequest("x", payload: Span()))
        #expect(bench.sentText == #"{"from":"0001-01-01T00:00:00Z","to":"9999-12-31T23:59:59Z"}"#)
    }

    @Test(
        "Milliseconds are rounded to whole numbers, however distant the date",
        arguments: [(1_000_000_000.0016, "1000000000002"), (1e14, "100000000000000000")]
    )
    func milliseconds(seconds: Double, text: String) async throws {
        struct Moment: JSONPayload { var at: Date }
        let moment = Moment(at: Date(timeIntervalSince1970: seconds))
        let request = APIRequest<IgnoredBody>("x", payload: moment).query(moment)
        _ = try await send(request.dateEncodingStrategy(.millisecondsSince1970))
        #expect(bench.sentText == "{\"at\":\(text)}" && bench.paths == ["x?at=\(text)"])
    }

    @Test("A pattern formats dates in UTC and in English, whatever the device")
    func pattern() async throws {
        await #expect(processExitsWith: .success) {
            NSTimeZone.default = try #require(TimeZone(secondsFromGMT: 32_400))
            let bench = APIBench(ScriptedTransport(always: .ok))
            let request = APIRequest<IgnoredBody>("x", payload: PayloadTests.Signup()).method(.post)
            _ = try await bench.api.send(request.dateEncodingStrategy(.formatted("EEE d MMM yyyy, h.mm a zzz")))
            #expect(bench.sentText == #"{"born":"Sun 9 Sep 2001, 1.46 AM GMT","name":"Ann"}"#)
        }
    }
}
