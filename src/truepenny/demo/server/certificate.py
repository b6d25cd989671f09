"""A certificate for one run of the practice cluster.

kubectl sends a bearer token over TLS only, so the simulator speaks TLS, with a key that lives as
long as the process.
"""

from __future__ import annotations

import ipaddress
from datetime import UTC, datetime, timedelta

LIFETIME = timedelta(days=90)
"""Longer than anyone lets a practice cluster run."""

_SKEW = timedelta(hours=1)  # how wrong a clock may be that checks the certificate


def self_signed(host: str) -> tuple[bytes, bytes]:
    """Return (certificate, private key) as PEM, valid for the host, localhost and 127.0.0.1."""
    # Imported here: only a starting cluster needs it, and it costs 80 ms.
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "truepenny practice cluster")])
    names: list[x509.GeneralName] = [
        x509.DNSName("localhost"),
        x509.IPAddress(ipaddress.ip_address("127.0.0.1")),
    ]
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        if host != "localhost":
            names.append(x509.DNSName(host))
    else:
        if str(address) != "127.0.0.1":
            names.append(x509.IPAddress(address))
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _SKEW)
        .not_valid_after(now + LIFETIME)
        .add_extension(x509.SubjectAlternativeName(names), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return certificate.public_bytes(serialization.Encoding.PEM), private
