// The driver of Go's net/http.
package main

import (
	"context"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"golang.org/x/net/publicsuffix"
)

var features = []string{"http1", "http2", "tls", "proxy", "proxy-environment", "cookies", "decode", "timeout", "cancel", "concurrency",
	"limit", "fields", "redirects"}

func open(k kase) *http.Client {
	transport := http.DefaultTransport.(*http.Transport).Clone()
	pool := x509.NewCertPool()
	pem, _ := os.ReadFile(k.Authority)
	pool.AppendCertsFromPEM(pem)
	transport.TLSClientConfig = &tls.Config{RootCAs: pool}
	transport.MaxConnsPerHost = k.Client.Connections
	if k.Client.Proxy != "" {
		proxy, _ := url.Parse(k.Client.Proxy)
		transport.Proxy = http.ProxyURL(proxy)
	}
	client := &http.Client{Transport: transport}
	if slices.Contains(k.Needs, "cookies") {
		client.Jar, _ = cookiejar.New(&cookiejar.Options{PublicSuffixList: publicsuffix.List})
	}
	return client
}

func fetch(client *http.Client, c call) (map[string]any, error) {
	ctx := context.Background()
	for _, milliseconds := range []int{c.Deadline, c.Cancel} {
		if milliseconds > 0 {
			limited, cancel := context.WithTimeout(ctx, time.Duration(milliseconds)*time.Millisecond)
			defer cancel()
			ctx = limited
		}
	}
	var body io.Reader
	if c.Body != nil {
		body = strings.NewReader(latin1(*c.Body))
	}
	request, err := http.NewRequestWithContext(ctx, c.Method, c.URL, body)
	if err != nil {
		return nil, err
	}
	for _, field := range c.Fields {
		request.Header.Add(field[0], field[1])
	}
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	data, err := io.ReadAll(response.Body)
	if err != nil {
		return nil, err
	}
	digest, fields := sha256.Sum256(data), map[string]string{}
	for _, name := range c.Read {
		if values := response.Header.Values(name); len(values) > 0 {
			fields[name] = strings.Join(values, ", ")
		}
	}
	return map[string]any{"outcome": "value", "status": response.StatusCode, "bytes": len(data),
		"sha256": hex.EncodeToString(digest[:]), "fields": fields}, nil
}
