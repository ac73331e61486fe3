// The driver of Java's HttpClient.
import com.google.gson.Gson;
import java.io.BufferedReader;
import java.io.FileInputStream;
import java.io.InputStreamReader;
import java.net.*;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.security.KeyStore;
import java.security.MessageDigest;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.*;
import java.util.stream.Collectors;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManagerFactory;

class Driver {
    static final List<String> FEATURES =
        List.of("http1", "http2", "tls", "proxy", "cookies", "timeout", "cancel", "concurrency", "fields");
    static final ScheduledExecutorService CLOCK = Executors.newSingleThreadScheduledExecutor();

    static class Call {
        String method, url, body;
        List<List<String>> fields;
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

    static HttpClient open(Case kase) throws Exception {
        var store = KeyStore.getInstance(KeyStore.getDefaultType());
        store.load(null, null);
        try (var file = new FileInputStream(kase.authority)) {
            store.setCertificateEntry("authority", CertificateFactory.getInstance("X.509").generateCertificate(file));
        }
        var factory = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        factory.init(store);
        var context = SSLContext.getInstance("TLS");
        context.init(null, factory.getTrustManagers(), null);
        var builder = HttpClient.newBuilder().sslContext(context).followRedirects(HttpClient.Redirect.NORMAL);
        if (kase.needs.contains("cookies")) {
            builder.cookieHandler(new CookieManager());
        }
        if (kase.client.containsKey("proxy")) {
            var proxy = URI.create(kase.client.get("proxy"));
            builder.proxy(ProxySelector.of(new InetSocketAddress(proxy.getHost(), proxy.getPort())));
            if (proxy.getUserInfo() != null) {
                var user = proxy.getUserInfo().split(":");
                builder.authenticator(new Authenticator() {
                    @Override
                    protected PasswordAuthentication getPasswordAuthentication() {
                        return new PasswordAuthentication(user[0], user[1].toCharArray());
                    }
                });
            }
        }
        return builder.build();
    }

    static CompletableFuture<HttpResponse<byte[]>> send(HttpClient client, Call call) {
        try {
            var body = call.body == null ? BodyPublishers.noBody() : BodyPublishers.ofByteArray(call.body.getBytes(StandardCharsets.ISO_8859_1));
            var request = HttpRequest.newBuilder(URI.create(call.url)).method(call.method, body);
            call.fields.forEach(field -> request.header(field.get(0), field.get(1)));
            if (call.deadline != null) {
                request.timeout(Duration.ofMillis(call.deadline));
            }
            var future = client.sendAsync(request.build(), BodyHandlers.ofByteArray());
            if (call.cancel != null) {
                CLOCK.schedule(() -> future.cancel(true), call.cancel, TimeUnit.MILLISECONDS);
            }
            return future;
        } catch (RuntimeException error) {
            return CompletableFuture.failedFuture(error);
        }
    }

    static Map<String, Object> result(Call call, HttpResponse<byte[]> response, Throwable error, long begin) {
        Map<String, Object> result = new HashMap<>(Map.of("ms", (System.nanoTime() - begin) / 1_000_000));
        if (error != null) {
            result.putAll(Map.of("outcome", "error", "error", String.valueOf(error)));
            return result;
        }
        try {
            var fields = call.read.stream().filter(response.headers().map()::containsKey)
                .collect(Collectors.toMap(name -> name, name -> String.join(", ", response.headers().allValues(name))));
            var digest = HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(response.body()));
            result.putAll(Map.of("outcome", "value", "status", response.statusCode(), "bytes", response.body().length, "sha256", digest,
                "fields", fields));
            return result;
        } catch (java.security.NoSuchAlgorithmException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    static List<Object> run(Case kase) throws Exception {
        List<Object> results = new ArrayList<>();
        var client = kase.steps.isEmpty() ? null : open(kase);
        for (var step : kase.steps) {
            Thread.sleep(step.stream().mapToLong(call -> call.wait).max().orElse(0));
            List<CompletableFuture<Map<String, Object>>> futures = new ArrayList<>();
            for (var call : step) {
                long begin = System.nanoTime();
                futures.add(send(client, call).handle((response, error) -> result(call, response, error, begin)));
            }
            futures.forEach(future -> results.add(future.join()));
        }
        return results;
    }

    public static void main(String[] arguments) throws Exception {
        var gson = new Gson();
        if (arguments.length > 0) {
            System.out.println(gson.toJson(Map.of("version", "Java " + Runtime.version(), "features", FEATURES)));
            return;
        }
        var lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (var line = lines.readLine(); line != null; line = lines.readLine()) {
            System.out.println(gson.toJson(Map.of("results", run(gson.fromJson(line, Case.class)))));
        }
        System.exit(0);
    }
}
