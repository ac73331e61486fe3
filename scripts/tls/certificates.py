"""Creates a certificate authority and the certificates of the servers, with the openssl command."""
import base64
import datetime
import hashlib
import subprocess

CONFIGURATION = """\
[ca]
default_ca = authority
[authority]
database = {folder}/index.txt
new_certs_dir = {folder}
rand_serial = yes
default_md = sha256
unique_subject = no
policy = policy
copy_extensions = none
[policy]
commonName = supplied
[req]
distinguished_name = name
[name]
"""
DAY = datetime.timedelta(days=1)
KEY = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
HERE = "IP:127.0.0.1,DNS:localhost"


class Authority:
    """A certificate authority with the files `name.pem` and `name.key` in a separate folder."""

    def __init__(self, folder, name):
        self.folder, self.name = folder / name, name
        self.folder.mkdir()
        self.certificate = self.folder / f"{name}.pem"
        self.key = self.folder / f"{name}.key"
        # In a path without quotes, openssl accepts spaces, but interprets $ and \\.
        configuration = CONFIGURATION.format(folder=str(self.folder).replace("\\", "\\\\").replace("$", "\\$"))
        (self.folder / "openssl.cnf").write_text(configuration)
        (self.folder / "index.txt").touch()
        self._openssl(
            "req", "-x509", *KEY, "-keyout", self.key, "-out", self.certificate, "-days", "2", "-subj", f"/CN={name}",
            "-addext", "basicConstraints=critical,CA:TRUE", "-addext", "keyUsage=critical,keyCertSign,cRLSign")

    def sign(self, name, names=HERE, usage="serverAuth", days=(-1, 2), key_options=KEY, digest="sha256", common=None):
        """Creates a key and a certificate for these names; returns both paths. It is valid between the two `days`, relative to now.
        Its common name is `common`, or the name of the files."""
        request, key, certificate = (self.folder / f"{name}.{kind}" for kind in ("csr", "key", "pem"))
        extensions = self.folder / f"{name}.cnf"
        lines = ["basicConstraints=critical,CA:FALSE", f"extendedKeyUsage={usage}"]
        extensions.write_text("\n".join(lines + ([f"subjectAltName={names}"] if names else [])) + "\n")
        self._openssl("req", *key_options, "-keyout", key, "-out", request, "-subj", f"/CN={common or name}")
        start, end = (self._date(number) for number in days)
        self._openssl(
            "ca", "-batch", "-notext", "-md", digest, "-in", request, "-out", certificate, "-cert", self.certificate, "-keyfile", self.key,
            "-startdate", start, "-enddate", end, "-extfile", extensions)
        return certificate, key

    def pack(self, name, passphrase):
        """Packs a signed certificate and its key as PKCS#12; returns the path."""
        path = self.folder / f"{name}.p12"
        self._openssl(
            "pkcs12", "-export", "-in", self.folder / f"{name}.pem", "-inkey", self.folder / f"{name}.key", "-out", path,
            "-passout", f"pass:{passphrase}", configured=False)
        return path

    @staticmethod
    def _date(days):
        return (datetime.datetime.now(datetime.timezone.utc) + days * DAY).strftime("%Y%m%d%H%M%SZ")

    def _openssl(self, command, *arguments, configured=True):
        configuration = ["-config", self.folder / "openssl.cnf"] if configured else []
        done = subprocess.run(
            ["openssl", command, *configuration, *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode != 0:
            raise SystemExit(f"openssl {command} failed:\n{done.stderr}")


def pin(pair):
    """Returns the pin of a certificate's key: sha256/ and the Base64 form of the hash of its SubjectPublicKeyInfo."""
    done = subprocess.run(
        ["openssl", "pkey", "-in", pair[1], "-pubout", "-outform", "DER"], stdin=subprocess.DEVNULL, capture_output=True)
    if done.returncode != 0:
        raise SystemExit(f"openssl pkey failed:\n{done.stderr.decode(errors='replace')}")
    return "sha256/" + base64.b64encode(hashlib.sha256(done.stdout).digest()).decode()


def make_self_signed(folder):
    """Creates a certificate for the right host that is signed only by its own key."""
    authority = Authority(folder, "self-signed")
    certificate, key = folder / "self-signed.pem", folder / "self-signed.key"
    authority._openssl(
        "req", "-x509", *KEY, "-keyout", key, "-out", certificate, "-days", "2", "-subj", "/CN=self-signed",
        "-addext", f"subjectAltName={HERE}")
    return certificate, key
