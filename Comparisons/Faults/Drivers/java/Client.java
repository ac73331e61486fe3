// The driver of Java's HttpClient.
import java.io.*;
import java.net.*;
import java.net.http.*;
import java.nio.charset.StandardCharsets;
import java.security.KeyStore;
import java.security.cert.CertificateFactory;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.*;
import javax.net.ssl.*;

class Client {
    static final List<String> FEATURES =
        List.of("http1", "http2", "tls", "proxy", "cookies", "timeout", "cancel", "concurrency", "fields", "redirects");
    static final ScheduledExecutorService CLOCK = Executors.newSingleThreadScheduledExecutor();

    static HttpClient open(Driver.Case kase) throws Exception {
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
                    protected PasswordAuthentication getPasswordAuthentication() {
                        return new PasswordAuthentication(user[0], user[1].toCharArray());
                    }
                });
            }
        }
        return builder.build();
    }

    static CompletableFuture<HttpResponse<byte[]>> send(HttpClient client, Driver.Call call) {
        try {
            var request = HttpRequest.newBuilder(URI.create(call.url));
            if (call.body != null) {
                request.method(call.method, HttpRequest.BodyPublishers.ofByteArray(call.body.getBytes(StandardCharsets.ISO_8859_1)));
            } else if (!call.method.equals("GET")) {
                request.method(call.method, HttpRequest.BodyPublishers.noBody());
            }
            for (var field : call.fields) {
                // Builder refuses the field Expect and has a method for it.
                if (field.get(0).equals("Expect")) {
                    request.expectContinue(true);
                } else {
                    request.header(field.get(0), field.get(1));
                }
            }
            if (call.deadline != null) {
                request.timeout(Duration.ofMillis(call.deadline));
            }
            var future = client.sendAsync(request.build(), HttpResponse.BodyHandlers.ofByteArray());
            if (call.cancel != null) {
                CLOCK.schedule(() -> future.cancel(true), call.cancel, TimeUnit.MILLISECONDS);
            }
            return future;
        } catch (RuntimeException error) {
            return CompletableFuture.failedFuture(error);
        }
    }
}
