"""Makes the certificates of the server with the command `openssl`."""
import pathlib, ssl, subprocess

# The names below example are those of calls through a proxy.
GOOD = "subjectAltName=DNS:localhost,IP:127.0.0.1,DNS:shop.example"
# Name, subject, extensions, begin and end of validity, and what signs it.
LEAVES = [
    ("good", "/CN=Good", [GOOD, "extendedKeyUsage=serverAuth"], "20200101000000Z", "20491231000000Z", "ca"),
    ("wrong-name", "/CN=Wrong", ["subjectAltName=DNS:other.example"], "20200101000000Z", "20491231000000Z", "ca"),
    ("common-name", "/CN=localhost", [], "20200101000000Z", "20491231000000Z", "ca"),
    ("expired", "/CN=Expired", [GOOD], "20200101000000Z", "20210101000000Z", "ca"),
    ("future", "/CN=Future", [GOOD], "20480101000000Z", "20491231000000Z", "ca"),
    ("client-only", "/CN=Client", [GOOD, "extendedKeyUsage=clientAuth"], "20200101000000Z", "20491231000000Z", "ca"),
    ("not-an-authority", "/CN=Leaf", [GOOD], "20200101000000Z", "20491231000000Z", "good"),
    ("untrusted", "/CN=Untrusted", [GOOD], "20200101000000Z", "20491231000000Z", "other-ca"),
]
CONFIGURATION = """[ca]
default_ca = signer
[signer]
database = {folder}/index.txt
serial = {folder}/serial
new_certs_dir = {folder}
default_md = sha256
policy = any
unique_subject = no
copy_extensions = none
[any]
commonName = supplied
[req]
distinguished_name = name
[name]
"""


def openssl(*arguments):
    done = subprocess.run(["openssl", *map(str, arguments)], capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"openssl {arguments[0]} failed: {done.stderr.strip()[-500:]}")


def make(folder):
    """Makes all certificates in the folder. `ca.pem` is the authority that the drivers trust."""
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "index.txt").write_text("")
    (folder / "serial").write_text("1000\n")
    configuration = folder / "openssl.cnf"
    configuration.write_text(CONFIGURATION.format(folder=folder))
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-noenc", "-config", configuration]
    for name in ("ca", "other-ca"):
        openssl("req", "-x509", *key, "-keyout", folder / f"{name}.key", "-out", folder / f"{name}.pem", "-days", 9000,
                "-subj", f"/CN=Faults {name}", "-addext", "basicConstraints=critical,CA:TRUE",
                "-addext", "keyUsage=critical,keyCertSign,cRLSign")
    for name, subject, extensions, begin, end, signer in LEAVES:
        extension_file = folder / f"{name}.ext"
        extension_file.write_text("\n".join(["basicConstraints=CA:FALSE", *extensions]) + "\n")
        openssl("req", "-new", *key, "-keyout", folder / f"{name}.key", "-out", folder / f"{name}.csr", "-subj", subject)
        leaf = folder / f"{name}.leaf.pem"
        openssl("ca", "-batch", "-notext", "-config", configuration, "-cert", folder / f"{signer}.pem",
                "-keyfile", folder / f"{signer}.key", "-in", folder / f"{name}.csr", "-out", leaf, "-startdate", begin,
                "-enddate", end, "-extfile", extension_file)
        chain = folder / f"{name}.pem"
        chain.write_text(leaf.read_text() + ("" if signer != "good" else (folder / "good.pem").read_text()))


def context(folder, name, protocols=()):
    """Returns the TLS settings of a server. The name `tls1.0` means a good certificate and no later version."""
    settings = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    certificate = "good" if name == "tls1.0" else name
    settings.load_cert_chain(folder / f"{certificate}.pem", folder / f"{certificate}.key")
    if name == "tls1.0":
        settings.set_ciphers("ALL:@SECLEVEL=0")
        settings.minimum_version = settings.maximum_version = ssl.TLSVersion.TLSv1
    if protocols:
        settings.set_alpn_protocols(list(protocols))
    return settings
