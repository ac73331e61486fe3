import FlyingFox

/// The server side of the weather service.
///
/// It refuses requests with a token, because the token is for another API.
enum WeatherServer {
    static func addRoutes(to server: HTTPServer) async {
        await server.appendRoute("GET /weather.example/today/:city") { request in
            try answer(request, sky: "rain", degrees: 11)
        }
        await server.appendRoute("GET /weather.example/tomorrow/:city") { request in
            try answer(request, sky: "sun", degrees: 17)
        }
    }

    private static func answer(_ request: HTTPRequest, sky: String, degrees: Int) throws -> HTTPResponse {
        guard request.headers[.authorization] == nil else {
            return try .refusal(.badRequest, "this token is not for the weather service")
        }
        guard request.headers[HTTPHeader("User-Agent")] == "quickstart/1.0" else {
            return try .refusal(.forbidden, "the User-Agent is unknown")
        }
        return try .json(Forecast(city: request.routeParameters["city"] ?? "", sky: sky, degrees: degrees))
    }
}
