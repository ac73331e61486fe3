#!/usr/bin/env python3
"""Prints random requests with the signatures that botocore gives them, as JSON: peer.py COUNT SEED"""
import datetime
import json
import random
import sys
import urllib.parse

import botocore.auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

SEGMENTS = ("a", "b c", "..", ".", "", "x+y", "ü", "~", "a=b", "%", "100%25", "a:b", "@", "(1)", "'*!")
HEADERS = {"Content-Type": "text/plain", "X-Amz-Meta-A": " a   b ", "User-Agent": "x", "X-Other": "1,2", "Range": "bytes=0-9"}


def sign(number):
    service = random.choice(("s3", "execute-api", "dynamodb", "es"))
    placement = random.choice(("header", "query"))
    method = random.choice(("GET", "PUT", "DELETE", "POST"))
    segments = [random.choice(SEGMENTS) for _ in range(random.randrange(5))]
    # RFC 3986 keeps the slash in front of a final dot segment, botocore removes it.
    if segments and segments[-1] in (".", ".."):
        segments.append("end")
    path = "/" + "/".join(urllib.parse.quote(segment, safe="~") for segment in segments)
    names = random.sample(("a", "B", "b-1", "ü", "empty", "x y", "z~"), random.randrange(4))
    items = [(name, random.choice(("", "1", "a b", "ü/", "=&", "~-_."))) for name in names]
    query = "&".join(f"{urllib.parse.quote(name, safe='~')}={urllib.parse.quote(value, safe='~')}" for name, value in items)
    headers = {name: HEADERS[name] for name in random.sample(sorted(HEADERS), random.randrange(4))}
    body = "" if placement == "query" or method in ("GET", "DELETE") else "body %d" % number
    token = random.choice((None, "token/+=%d" % number))
    date = datetime.datetime(2026, random.randint(1, 12), random.randint(1, 28), random.randrange(24), random.randrange(60), 5)
    botocore.auth.get_current_datetime = lambda *_, **__: date
    url = f"https://host.{service}.test{path}" + (f"?{query}" if query else "")
    request = AWSRequest(method=method, url=url, headers=dict(headers), data=body)
    kinds = {
        ("s3", "header"): botocore.auth.S3SigV4Auth, ("s3", "query"): botocore.auth.S3SigV4QueryAuth,
        ("other", "header"): botocore.auth.SigV4Auth, ("other", "query"): botocore.auth.SigV4QueryAuth,
    }
    kind = kinds[("s3" if service == "s3" else "other", placement)]
    kind(Credentials("AKIDEXAMPLE", "secret %d" % number, token), service, "eu-west-1").add_auth(request)
    text = request.url if placement == "query" else request.headers["Authorization"]
    return {
        "method": method, "url": url, "headers": headers, "body": body, "service": service, "placement": placement,
        "secret": "secret %d" % number, "token": token, "time": int(date.replace(tzinfo=datetime.timezone.utc).timestamp()),
        "signature": text.rsplit("Signature=", 1)[1],
    }


def main():
    random.seed(int(sys.argv[2]))
    json.dump([sign(number) for number in range(int(sys.argv[1]))], sys.stdout)


if __name__ == "__main__":
    main()
