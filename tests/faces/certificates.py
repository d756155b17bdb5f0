"""A certificate that signs itself, for servers of tests on 127.0.0.1."""

import subprocess
from pathlib import Path


def make_certificate(chain: Path, key: Path, holders: str = "DNS:play.example.org,IP:127.0.0.1") -> None:
    words = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    names = ["-subj", "/CN=play.example.org", "-addext", f"subjectAltName={holders}"]
    files = ["-keyout", str(key), "-out", str(chain), "-days", "1"]
    subprocess.run([*words, *names, *files], check=True, capture_output=True)
