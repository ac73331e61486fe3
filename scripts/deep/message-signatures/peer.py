"""Signs and verifies random messages with PyPI's http-message-signatures.

peer.py make FOLDER COUNT SEED   writes keys.json and from-peer.json
peer.py verify FOLDER            reads from-pipeline.json and verified.json, and prints totals
"""
import base64, collections, json, pathlib, random, sys, urllib.parse

from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from http_message_signatures import HTTPMessageSigner, HTTPMessageVerifier, HTTPSignatureKeyResolver, algorithms

ALGORITHMS = {a.algorithm_id: a for a in (
    algorithms.ED25519, algorithms.ECDSA_P256_SHA256, algorithms.ECDSA_P384_SHA384, algorithms.HMAC_SHA256,
    algorithms.RSA_PSS_SHA512, algorithms.RSA_V1_5_SHA256)}


class Fields:
    """Header fields that keep each line."""

    def __init__(self, lines):
        self.lines = [tuple(line) for line in lines]

    def items(self):
        return list(self.lines)

    def __iter__(self):
        return iter([name for name, _ in self.lines])

    def __contains__(self, name):
        return any(name.lower() == other.lower() for other, _ in self.lines)

    def __delitem__(self, name):
        self.lines = [line for line in self.lines if line[0].lower() != name.lower()]

    def __setitem__(self, name, value):
        del self[name]
        self.lines.append((name, value))


class Request:
    def __init__(self, message):
        self.method = message["method"]
        self.url = f'{message["scheme"]}://{message["authority"]}{message["path"]}'
        self.headers = Fields(message["fields"])


class Response:
    def __init__(self, message):
        self.status_code = message["status"]
        self.headers = Fields(message["fields"])
        self.request = Request(message["request"])


class Resolver(HTTPSignatureKeyResolver):
    def __init__(self, keys, algorithm):
        self.keys, self.algorithm = keys, algorithm

    def resolve(self, part):
        text = self.keys[self.algorithm][part]
        return base64.b64decode(text) if self.algorithm == "hmac-sha256" else text.encode()

    def resolve_public_key(self, key_id):
        return self.resolve("public")

    def resolve_private_key(self, key_id):
        return self.resolve("private")


def make_keys():
    rsa_key = rsa.generate_private_key(65537, 2048)
    pairs = {"ed25519": ed25519.Ed25519PrivateKey.generate(), "ecdsa-p256-sha256": ec.generate_private_key(ec.SECP256R1()),
             "ecdsa-p384-sha384": ec.generate_private_key(ec.SECP384R1()), "rsa-pss-sha512": rsa_key, "rsa-v1_5-sha256": rsa_key}
    keys = {}
    for name, key in pairs.items():
        keys[name] = {
            "private": key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode(),
            "public": key.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode()}
    secret = base64.b64encode(random.randbytes(64)).decode()
    keys["hmac-sha256"] = {"private": secret, "public": secret}
    return keys


def text(limit, alphabet="abcXYZ019 -._~!*'();:@&=+$,/?#[]%\"\\<>^`{|}"):
    return "".join(random.choice(alphabet) for _ in range(random.randint(0, limit)))


def make_request():
    names = random.sample(["a", "b", "Pet", "a b", "façade", "x+y", "*", "~"], random.randint(0, 4))
    quote = random.choice([urllib.parse.quote, urllib.parse.quote_plus])
    query = "&".join(f"{quote(name)}={quote(text(8) + random.choice(['', 'é', '漢']), safe='')}" for name in names)
    path = "/" + urllib.parse.quote(text(8), safe="/")
    if query or random.random() < 0.2:
        path += "?" + query
    fields = [["X-Text", text(20).strip()], ["Accept", "*/*"], ["Accept", "text/html;q=0.5,  text/plain"],
              ["X-Spaced", f"  {text(5).strip() or 'a'} \t"], ["X-Dict", "a=1,  b=2;x;y=2, c=(a   b;z=1), d, e=:AQID:, f=\"q\\\"r\", g=1.50"],
              ["Priority", "u=1,   i"], ["Content-Type", "application/json; charset=utf-8"], ["X-Empty", ""]]
    random.shuffle(fields)
    return {"method": random.choice(["GET", "POST", "PUT", "DELETE", "PATCH"]), "scheme": random.choice(["https", "http"]),
            "authority": random.choice(["a.test", "A.Test", "a.test:443", "a.test:80", "a.test:8080", "[::1]:8443"]),
            "path": path, "fields": fields}, names


def components(names):
    fields = ['"x-text"', '"accept"', '"x-spaced"', '"x-dict"', '"priority"', '"content-type"', '"x-empty"', '"x-dict";key="a"',
              '"x-dict";key="b"', '"x-dict";key="c"', '"x-dict";key="d"', '"x-dict";key="e"', '"x-dict";key="f"', '"x-dict";key="g"',
              '"priority";sf', '"accept";sf', '"x-text";bs', '"accept";bs', '"x-spaced";bs', '"priority";key="u";sf']
    derived = ["@method", "@target-uri", "@authority", "@scheme", "@request-target", "@path", "@query"]
    derived = [f'"{name}"' for name in derived] + [
        f'"@query-param";name="{urllib.parse.quote(name, safe="*").replace("~", "%7E")}"' for name in names]
    return fields, derived


def make(folder, count):
    keys = make_keys()
    (folder / "keys.json").write_text(json.dumps(keys))
    messages = []
    for index in range(count):
        algorithm = list(ALGORITHMS)[index % len(ALGORITHMS)]
        request, names = make_request()
        fields, derived = components(names)
        body = random.randbytes(random.randint(0, 200))
        message = {"algorithm": algorithm, "body": base64.b64encode(body).decode()}
        if random.random() < 0.75:
            message |= request
            covered = random.sample(fields + derived, random.randint(0, 12))
            covered += [] if '"@method"' in covered else ['"@method"']
            signed = Request(message)
        else:
            message |= {"status": random.choice([200, 201, 404, 503]), "request": request, "fields": make_request()[0]["fields"]}
            ofRequest = [item + ";req" for item in fields + derived]
            covered = random.sample(fields + ofRequest, random.randint(0, 12)) + ['"@status"']
            signed = Response(message)
        signer = HTTPMessageSigner(signature_algorithm=ALGORITHMS[algorithm], key_resolver=Resolver(keys, algorithm))
        signer.sign(signed, key_id=f"key-{algorithm}", covered_component_ids=covered, include_alg=random.random() < 0.5,
                    nonce=random.choice([None, text(10)]), tag=random.choice([None, "app"]),
                    label=random.choice([None, "sig1", "*a.b-c_1"]), body=body)
        message["fields"] = signed.headers.items()
        messages.append(message)
    (folder / "from-peer.json").write_text(json.dumps(messages))


def verify(folder):
    keys = json.loads((folder / "keys.json").read_text())
    messages = json.loads((folder / "from-pipeline.json").read_text())
    failures, passed = [], collections.Counter()
    for message in messages:
        algorithm = message["algorithm"]
        verifier = HTTPMessageVerifier(signature_algorithm=ALGORITHMS[algorithm], key_resolver=Resolver(keys, algorithm))
        request = Request(message)
        try:
            verifier.verify(request, body=base64.b64decode(message["body"]) if message["isDigested"] else None)
            passed[algorithm] += 1
        except Exception as error:
            failures.append((message, error))
    reverse = json.loads((folder / "verified.json").read_text())
    print(f"signed there, verified here: {reverse['passed']} of {reverse['total']}")
    for failure in reverse["failures"]:
        print("  ", failure)
    print(f"signed here, verified there: {sum(passed.values())} of {len(messages)} {dict(passed)}")
    for message, error in failures[:20]:
        print("  ", error, "for", message)
    return not failures and reverse["passed"] == reverse["total"]


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[2])
    if sys.argv[1] == "make":
        random.seed(int(sys.argv[4]))
        make(folder, int(sys.argv[3]))
    else:
        sys.exit(not verify(folder))
