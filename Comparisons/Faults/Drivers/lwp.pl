# The driver of Perl's LWP::UserAgent.
use strict;
use warnings;
use Digest::SHA qw(sha256_hex);
use HTTP::CookieJar::LWP;
use HTTP::Request;
use JSON;  # with JSON::XS, because the one in Perl takes seconds for a body of 8 MiB
use LWP::UserAgent;
use Time::HiRes qw(sleep time);

my @FEATURES = qw(http1 tls proxy proxy-environment cookies decode timeout fields redirects);

sub open_client {
    my ($case) = @_;
    my %needs = map { $_ => 1 } @{$case->{needs}};
    my $agent = LWP::UserAgent->new(ssl_opts => {SSL_ca_file => $case->{authority}});
    $agent->env_proxy if $needs{'proxy-environment'};
    $agent->cookie_jar(HTTP::CookieJar::LWP->new) if $needs{cookies};
    $agent->default_header('Accept-Encoding' => scalar HTTP::Message::decodable()) if $needs{decode};
    $agent->proxy([qw(http https)], $case->{client}{proxy}) if $case->{client}{proxy};
    return $agent;
}

sub fetch {
    my ($agent, $case, $call) = @_;
    $agent->timeout($call->{deadline} / 1000) if $call->{deadline};
    my $request = HTTP::Request->new($call->{method}, $call->{url}, [map { @$_ } @{$call->{fields}}]);
    if (defined $call->{body}) {
        $request->content($call->{body});
        $request->content_length(length $call->{body}) unless defined $request->content_length;
    }
    my $response = $agent->request($request);
    # LWP reports its own failures as responses, and marks a body that ended too early.
    if (($response->header('Client-Warning') // '') eq 'Internal response' or $response->header('Client-Aborted')
        or $response->header('X-Died')) {
        return {outcome => 'error', error => substr($response->message, 0, 300)};
    }
    my $body = grep({ $_ eq 'decode' } @{$case->{needs}}) ? $response->decoded_content(charset => 'none', raise_error => 1)
        : $response->content;
    my %fields = map { $_ => join ', ', $response->header($_) } grep { defined $response->header($_) } @{$call->{read} // []};
    return {outcome => 'value', status => 0 + $response->code, bytes => length $body, sha256 => sha256_hex($body), fields => \%fields};
}

sub run {
    my ($case) = @_;
    my @results;
    my $agent = open_client($case);
    for my $step (@{$case->{steps}}) {
        my ($wait) = sort { $b <=> $a } map { $_->{wait} // 0 } @$step;
        sleep($wait / 1000);
        for my $call (@$step) {
            my $begin = time;
            my $result = eval { fetch($agent, $case, $call) } // {outcome => 'error', error => substr("$@", 0, 300)};
            push @results, {%$result, ms => int((time() - $begin) * 1000)};
        }
    }
    return \@results;
}

$| = 1;
my $json = JSON->new->ascii;
if (grep { $_ eq '--describe' } @ARGV) {
    print $json->encode({version => "LWP $LWP::VERSION, Perl $^V", features => \@FEATURES}), "\n";
} else {
    while (my $line = <STDIN>) {
        my $case = $json->decode($line);
        print $json->encode({results => @{$case->{steps}} ? run($case) : []}), "\n";
    }
}
