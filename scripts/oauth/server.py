"""An authorization server made of Authlib, and an API that accepts its tokens; all state is in memory.

The server stands for several issuers, one per first segment of the path, such as /tenant. `/mixed` has metadata that names another
issuer, and `/tenant/authorize-elsewhere` names another issuer in its response. Authlib has no DPoP (RFC 9449); it is added here with
joserfc.
"""
import hashlib
import json
import os
import secrets
import threading
import time
from base64 import urlsafe_b64encode

os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"  # http to a loopback address

from authlib.integrations.flask_oauth2 import AuthorizationServer  # noqa: E402
from authlib.oauth2.rfc6749 import ClientMixin, TokenMixin, grants  # noqa: E402
from authlib.oauth2.rfc6749.util import scope_to_list  # noqa: E402
from authlib.oauth2.rfc7009 import RevocationEndpoint  # noqa: E402
from authlib.oauth2.rfc7636 import CodeChallenge  # noqa: E402
from authlib.oauth2.rfc8628 import DeviceAuthorizationEndpoint, DeviceCodeGrant, DeviceCredentialDict  # noqa: E402
from authlib.oauth2.rfc9207 import IssuerParameter  # noqa: E402
from flask import Flask, Response, jsonify, request  # noqa: E402
from joserfc import jwk, jws  # noqa: E402

DEVICE_INTERVAL_SECONDS = 0.15
app = Flask(__name__)
lock = threading.RLock()
codes, tokens, devices, granted, proofs, polled = {}, [], {}, {}, set(), {}


class User:
    id = "ada"

    def get_user_id(self):
        return self.id


class Client(ClientMixin):
    def __init__(self, client_id, secret, method):
        self.client_id, self.secret, self.method = client_id, secret, method

    def get_client_id(self):
        return self.client_id

    def get_default_redirect_uri(self):
        return None

    def get_allowed_scope(self, scope):
        return " ".join(word for word in scope_to_list(scope or "") if word in ("read", "write"))

    def check_redirect_uri(self, redirect_uri):
        # RFC 8252 §7.3: any port of a loopback address.
        return redirect_uri == "myapp://callback" or (
            redirect_uri.startswith("http://127.0.0.1:") and redirect_uri.endswith("/callback"))

    def check_client_secret(self, client_secret):
        return secrets.compare_digest((self.secret or "").encode(), client_secret.encode())

    def check_endpoint_auth_method(self, method, endpoint):
        return method == self.method

    def check_response_type(self, response_type):
        return response_type == "code"

    def check_grant_type(self, grant_type):
        return grant_type != "client_credentials" or self.secret is not None


CLIENTS = {client.client_id: client for client in [
    Client("cli", None, "none"), Client("re:ports", "se cret+/é", "client_secret_basic"),
    Client("poster", "se cret+/é", "client_secret_post"),
]}


class Token(TokenMixin):
    def __init__(self, values, client, user, family):
        self.values, self.client, self.user, self.family = values, client, user, family
        self.revoked = self.used = self.expired = False
        self.jkt = None

    def check_client(self, client):
        return client is self.client

    def get_scope(self):
        return self.values.get("scope", "")

    def get_expires_in(self):
        return self.values["expires_in"]

    def is_expired(self):
        return self.expired

    def is_revoked(self):
        return self.revoked

    def get_user(self):
        return self.user

    def get_client(self):
        return self.client


class Code(dict):
    def get_redirect_uri(self):
        return self["redirect_uri"]

    def get_scope(self):
        return self["scope"]


def save_token(values, oauth_request):
    used = getattr(oauth_request, "refresh_token", None)
    token = Token(values, oauth_request.client, oauth_request.user, used.family if used else secrets.token_hex(4))
    with lock:
        tokens.append(token)


server = AuthorizationServer()
app.config["OAUTH2_REFRESH_TOKEN_GENERATOR"] = True
server.init_app(app, query_client=CLIENTS.get, save_token=save_token)


class AuthorizationCodeGrant(grants.AuthorizationCodeGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ["none", "client_secret_basic", "client_secret_post"]

    def save_authorization_code(self, code, oauth_request):
        data = oauth_request.payload.data
        codes[code] = Code(
            code=code, client_id=oauth_request.client.client_id, redirect_uri=oauth_request.payload.redirect_uri,
            scope=oauth_request.payload.scope, code_challenge=data.get("code_challenge"))
        codes[code].code_challenge = data.get("code_challenge")
        codes[code].code_challenge_method = data.get("code_challenge_method")

    def query_authorization_code(self, code, client):
        found = codes.get(code)
        return found if found and found["client_id"] == client.client_id else None

    def delete_authorization_code(self, authorization_code):
        codes.pop(authorization_code["code"], None)

    def authenticate_user(self, authorization_code):
        return User()


class RefreshTokenGrant(grants.RefreshTokenGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ["none", "client_secret_basic", "client_secret_post"]
    INCLUDE_NEW_REFRESH_TOKEN = True

    def authenticate_refresh_token(self, refresh_token):
        with lock:
            token = next((t for t in tokens if t.values.get("refresh_token") == refresh_token), None)
            if token and token.used:
                # RFC 9700 §4.14.2: reuse revokes all tokens of the session.
                for other in tokens:
                    other.revoked = other.revoked or other.family == token.family
            return None if token is None or token.revoked or token.used else token

    def authenticate_user(self, refresh_token):
        return refresh_token.user

    def revoke_old_credential(self, refresh_token):
        refresh_token.used = refresh_token.expired = True


class ClientCredentialsGrant(grants.ClientCredentialsGrant):
    TOKEN_ENDPOINT_AUTH_METHODS = ["client_secret_basic", "client_secret_post"]


class DeviceGrant(DeviceCodeGrant):
    def query_device_credential(self, device_code):
        return devices.get(device_code)

    def query_user_grant(self, user_code):
        return (User(), granted[user_code]) if user_code in granted else None

    def should_slow_down(self, credential):
        code, now = credential["device_code"], time.monotonic()
        last, polled[code] = polled.get(code), now
        return last is not None and now - last < DEVICE_INTERVAL_SECONDS


class DeviceEndpoint(DeviceAuthorizationEndpoint):
    EXPIRES_IN = 600
    INTERVAL = 5

    def get_verification_uri(self):
        return request.host_url + "tenant/activate"

    def save_device_credential(self, client_id, scope, data):
        # The scope `write` makes a code that has already expired at the server.
        expiry = time.time() + (-1 if "write" in (scope or "") else data["expires_in"])
        devices[data["device_code"]] = DeviceCredentialDict(data, client_id=client_id, scope=scope, expires_at=expiry)


class Revocation(RevocationEndpoint):
    CLIENT_AUTH_METHODS = ["none", "client_secret_basic", "client_secret_post"]

    def query_token(self, token_string, token_type_hint):
        return next((t for t in tokens if token_string in (t.values["access_token"], t.values.get("refresh_token"))), None)

    def revoke_token(self, token, request):
        token.revoked = True


class Issuer(IssuerParameter):
    def get_issuer(self):
        name = "elsewhere" if request.path.endswith("-elsewhere") else "tenant"
        return request.host_url + name


server.register_grant(AuthorizationCodeGrant, [CodeChallenge(required=True)])
server.register_grant(RefreshTokenGrant)
server.register_grant(ClientCredentialsGrant)
server.register_grant(DeviceGrant)
server.register_endpoint(DeviceEndpoint)
server.register_endpoint(Revocation)
server.register_extension(Issuer())


def read_proof(token=None):
    """Returns the thumbprint of the key of a valid proof, `None` without a proof; raises ValueError for an invalid one."""
    proof = request.headers.get("DPoP")
    if proof is None:
        return None
    signed = jws.extract_compact(proof.encode())
    header = signed.headers()
    if header.get("typ") != "dpop+jwt" or header.get("alg") != "ES256" or "d" in header["jwk"]:
        raise ValueError("the header of the proof")
    key = jwk.ECKey.import_key(header["jwk"])
    claims = json.loads(jws.deserialize_compact(proof, key, algorithms=["ES256"]).payload)
    if claims["htm"] != request.method or claims["htu"] != request.base_url:
        raise ValueError("the method or the URL of the proof")
    if abs(claims["iat"] - time.time()) > 60 or claims["jti"] in proofs:
        raise ValueError("the time of the proof, or its repetition")
    proofs.add(claims["jti"])
    digest = hashlib.sha256((token or "").encode()).digest()
    if token is not None and claims.get("ath") != urlsafe_b64encode(digest).decode().rstrip("="):
        raise ValueError("the token of the proof")
    if claims.get("nonce") != nonce():
        raise LookupError("the nonce of the proof")
    return key.thumbprint()


def nonce():
    return "nonce-" + request.path.rsplit("/", 1)[-1]


def describe(issuer):
    base = request.host_url + "tenant/"
    return jsonify(
        issuer=issuer, authorization_endpoint=base + "authorize", token_endpoint=base + "token",
        device_authorization_endpoint=base + "device", revocation_endpoint=base + "revoke",
        code_challenge_methods_supported=["S256"], authorization_response_iss_parameter_supported=True)


@app.get("/.well-known/oauth-authorization-server/<name>")
def metadata(name):
    return describe(request.host_url + ("tenant" if name == "mixed" else name)) if name != "oidc" else Response(status=404)


@app.get("/oidc/.well-known/openid-configuration")
def openid_configuration():
    return describe(request.host_url + "oidc")


@app.get("/tenant/authorize")
@app.get("/tenant/authorize-elsewhere")
def authorize():
    user = User()
    return server.create_authorization_response(grant_user=user, grant=server.get_consent_grant(end_user=user))


@app.post("/tenant/token")
def token():
    try:
        thumbprint = read_proof()
    except LookupError:
        return jsonify(error="use_dpop_nonce"), 400, {"DPoP-Nonce": nonce()}
    except (ValueError, KeyError) as error:
        return jsonify(error="invalid_dpop_proof", error_description=str(error)), 400
    with lock:
        response = server.create_token_response()
        if thumbprint is None or response.status_code != 200:
            return response
        tokens[-1].jkt = thumbprint
    return jsonify({**json.loads(response.get_data()), "token_type": "DPoP"}), 200, {"Cache-Control": "no-store"}


@app.post("/tenant/device")
def device():
    return server.create_endpoint_response(DeviceEndpoint.ENDPOINT_NAME)


@app.get("/tenant/activate")
def activate():
    """Enters a user code: ?user_code=…&allow=1."""
    granted[request.args["user_code"]] = request.args.get("allow") == "1"
    return "done"


@app.post("/tenant/revoke")
def revoke():
    return server.create_endpoint_response(Revocation.ENDPOINT_NAME)


@app.get("/api/expire")
def expire():
    """Makes the access token in the query expire early."""
    for found in tokens:
        found.expired = found.expired or found.values["access_token"] == request.args["token"]
    return "done"


@app.get("/api/items")
def items():
    scheme, _, value = request.headers.get("Authorization", "").partition(" ")
    found = next((t for t in tokens if t.values["access_token"] == value), None)
    if found is None or found.is_expired() or found.is_revoked() or scheme != ("DPoP" if found.jkt else "Bearer"):
        return Response(status=401, headers={"WWW-Authenticate": scheme + ' error="invalid_token"'})
    if found.jkt:
        try:
            if read_proof(value) != found.jkt:
                return Response(status=401, headers={"WWW-Authenticate": 'DPoP error="invalid_dpop_proof"'})
        except LookupError:
            challenge = {"WWW-Authenticate": 'DPoP error="use_dpop_nonce"', "DPoP-Nonce": nonce()}
            return Response(status=401, headers=challenge)
        except (ValueError, KeyError):
            return Response(status=401, headers={"WWW-Authenticate": 'DPoP error="invalid_dpop_proof"'})
    return jsonify(scheme=scheme, scope=found.get_scope(), token=value)
