# The driver of Ruby's Net::HTTP. One connection for each origin stays open for a case; the library follows no redirects.
require "digest"
require "json"
require "net/http"

FEATURES = %w[http1 tls proxy proxy-environment decode timeout fields]

def connection(connections, kase, uri)
  connections["#{uri.scheme}://#{uri.host}:#{uri.port}"] ||= begin
    http = if (proxy = kase["client"]["proxy"])
      at = URI(proxy)
      Net::HTTP.new(uri.host, uri.port, at.host, at.port, at.user, at.password)
    else
      Net::HTTP.new(uri.host, uri.port)
    end
    http.use_ssl = uri.scheme == "https"
    http.ca_file = kase["authority"]
    http
  end
end

def fetch(connections, kase, call)
  uri = URI(call["url"])
  http = connection(connections, kase, uri)
  if call["deadline"]
    http.open_timeout = http.read_timeout = http.write_timeout = http.ssl_timeout = call["deadline"] / 1000.0
  end
  http.start unless http.started?
  request = Net::HTTPGenericRequest.new(call["method"], !call["body"].nil?, call["method"] != "HEAD", uri)
  call["fields"].each { |name, value| request.add_field(name, value) }
  request.body = call["body"].encode("ISO-8859-1") if call["body"]
  response = http.request(request)
  body = response.body || ""
  fields = (call["read"] || []).filter_map { |name| [name, response[name]] if response[name] }.to_h
  { outcome: "value", status: response.code.to_i, bytes: body.bytesize, sha256: Digest::SHA256.hexdigest(body), fields: fields }
end

def run(kase)
  connections = {}
  kase["steps"].flat_map do |step|
    sleep(step.map { |call| call["wait"] || 0 }.max / 1000.0)
    step.map do |call|
      start = Process.clock_gettime(Process::CLOCK_MONOTONIC)
      result = begin
        fetch(connections, kase, call)
      rescue StandardError => error
        { outcome: "error", error: "#{error.class}: #{error.message}".b.inspect[0, 300] }
      end
      result.merge(ms: ((Process.clock_gettime(Process::CLOCK_MONOTONIC) - start) * 1000).round)
    end
  end
end

$stdout.sync = true
if ARGV.include?("--describe")
  puts JSON.generate(version: "Ruby #{RUBY_VERSION}, Net::HTTP #{Net::HTTP::VERSION}", features: FEATURES)
else
  $stdin.each_line { |line| puts JSON.generate(results: run(JSON.parse(line))) }
end
