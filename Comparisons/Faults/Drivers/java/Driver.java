// Reads the cases, makes their calls, and writes the results.
import com.google.gson.Gson;
import com.sun.net.httpserver.*;
import java.io.*;
import java.net.*;
import java.net.http.*;
import java.nio.charset.StandardCharsets;
import java.security.*;
import java.util.*;
import java.util.concurrent.*;
import java.util.stream.Collectors;
import javax.net.ssl.SSLContext;

class Driver {
    static class Call {
        String method = "GET", url, body;
        List<List<String>> fields = List.of();
        Long deadline, cancel;
        long wait;
        List<String> read = List.of();
    }

    static class Case {
        List<String> needs;
        Map<String, String> client;
        String authority;
        List<List<Call>> steps;
    }

    static String digest(byte[] data) {
        try {
            return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(data));
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    static Map<String, Object> result(Call call, HttpResponse<byte[]> response, Throwable error, long begin) {
        var milliseconds = (System.nanoTime() - begin) / 1_000_000;
        if (error != null) {
            return Map.of("outcome", "error", "error", error.toString(), "ms", milliseconds);
        }
        // HttpClient returns null for the body of a proxy that refused a tunnel.
        var body = response.body() == null ? new byte[0] : response.body();
        var fields = call.read.stream().filter(response.headers().map()::containsKey)
            .collect(Collectors.toMap(name -> name, name -> String.join(", ", response.headers().allValues(name))));
        return Map.of("outcome", "value", "status", response.statusCode(), "bytes", body.length, "fields", fields,
            "sha256", digest(body), "ms", milliseconds);
    }

    // The first calls of a process load more than a thousand classes. The handshake fails, as the server has no certificate.
    static void warmUp() throws Exception {
        var address = new InetSocketAddress("127.0.0.1", 0);
        var secure = HttpsServer.create(address, 0);
        secure.setHttpsConfigurator(new HttpsConfigurator(SSLContext.getDefault()));
        for (var server : List.of(HttpServer.create(address, 0), secure)) {
            server.createContext("/", exchange -> exchange.sendResponseHeaders(204, -1));
            server.start();
            var call = new Call();
            call.url = (server == secure ? "https" : "http") + "://127.0.0.1:" + server.getAddress().getPort();
            Client.send(HttpClient.newHttpClient(), call).handle((response, error) -> result(call, response, error, 0)).join();
            server.stop(0);
        }
    }

    static List<Object> run(Case kase) throws Exception {
        List<Object> results = new ArrayList<>();
        if (kase.steps.isEmpty()) {
            warmUp();
            return results;
        }
        var client = Client.open(kase);
        for (var step : kase.steps) {
            Thread.sleep(step.stream().mapToLong(call -> call.wait).max().orElse(0));
            List<CompletableFuture<Map<String, Object>>> futures = new ArrayList<>();
            for (var call : step) {
                long begin = System.nanoTime();
                futures.add(Client.send(client, call).handle((response, error) -> result(call, response, error, begin)));
            }
            futures.forEach(future -> results.add(future.join()));
        }
        return results;
    }

    public static void main(String[] arguments) throws Exception {
        var gson = new Gson();
        if (arguments.length > 0) {
            System.out.println(gson.toJson(Map.of("version", "Java " + Runtime.version(), "features", Client.FEATURES)));
            System.exit(0);
        }
        var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (var line = lines.readLine(); line != null; line = lines.readLine()) {
            System.out.println(gson.toJson(Map.of("results", run(gson.fromJson(line, Case.class)))));
        }
        System.exit(0);
    }
}
