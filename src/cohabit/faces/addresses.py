"""The address of a house, as clients reach it."""

import socket
from ipaddress import ip_address, ip_network
from pathlib import Path
from urllib.parse import urlsplit

import msgspec

from cohabit.house.settings import Settings

LOOPBACK = ("127.0.0.1", "localhost", "::1")
ALL_INTERFACES = ("0.0.0.0", "::")
_ELSEWHERE = {socket.AF_INET: "192.0.2.1", socket.AF_INET6: "2001:db8::1"}
"""Addresses that are reserved for documentation. Nothing is sent to them."""


def address(settings: Settings, port: int) -> str:
    """The address to show to people. A house on all interfaces is shown with one that other machines can use."""
    if settings.public_url:
        return settings.url
    host = outward_address(settings.host) if settings.host in ALL_INTERFACES else settings.host
    return f"{'https' if settings.tls_cert else 'http'}://{f'[{host}]' if ':' in host else host}:{port}"


def local_address(settings: Settings, port: int) -> str:
    """The address for clients on this machine, without a proxy in between. A certificate need not be for it."""
    return msgspec.structs.replace(settings, public_url="", port=port).url


def outward_address(host: str) -> str:
    """The address of this machine that its default route uses; loopback if it has none."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect((_ELSEWHERE[family], 9))  # chooses a route; a datagram socket sends nothing here
        except OSError:
            return "::1" if family == socket.AF_INET6 else "127.0.0.1"
        found: str = probe.getsockname()[0]
        return found


def is_address(host: str) -> bool:
    """True if this is an IP address, not a name."""
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def plain_address(host: str) -> str:
    """An IP address as it is usually written, so that addresses can be compared. A socket for IPv4 and IPv6 shows an
    IPv4 client as ``::ffff:192.0.2.1``; that is 192.0.2.1. Anything else is returned unchanged."""
    try:
        found = ip_address(host)
    except ValueError:
        return host
    return str(getattr(found, "ipv4_mapped", None) or found)


def network_of(host: str) -> str:
    """Whom a limit per address is for: an IPv4 address, or the /64 network of an IPv6 address, which one client has."""
    plain = plain_address(host)
    return str(ip_network(f"{plain}/64", strict=False)) if is_address(plain) and ":" in plain else plain


def plain_client(client: tuple[str, int] | None) -> tuple[str, int] | None:
    """The address and the port of a client, as uvicorn gives them, with its plain address."""
    return client and (plain_address(client[0]), client[1])


def exposure(settings: Settings) -> str | None:
    """A warning if tokens would cross a network unencrypted."""
    if settings.host in LOOPBACK or settings.tls_cert or settings.public_url.startswith("https:"):
        return None
    return (
        f"warning: the house listens on {settings.host} without TLS, so others on the network can read the tokens. Use "
        "--tls-cert and --tls-key, or a proxy with TLS and --public-url"
    )


def misnamed(settings: Settings, url: str) -> str | None:
    """A warning if the certificate is not for the address that links begin with."""
    if not settings.tls_cert:
        return None
    host, names = urlsplit(url).hostname or "", _names_of(Path(settings.tls_cert).read_bytes())
    if host in names or f"*.{host.partition('.')[2]}" in names:
        return None
    return (
        f"warning: the certificate is for {', '.join(names) or 'no name'}, so clients refuse {url}. Set "
        "--public-url to the address that clients use, such as https://play.example.org"
    )


def _names_of(chain: bytes) -> list[str]:
    """The names and addresses that a certificate is for."""
    from cryptography import x509  # takes long to import

    try:
        found = x509.load_pem_x509_certificates(chain)[0].extensions.get_extension_for_class(
            x509.SubjectAlternativeName
        )
    except x509.ExtensionNotFound:
        return []
    addresses = map(str, found.value.get_values_for_type(x509.IPAddress))
    return [*found.value.get_values_for_type(x509.DNSName), *addresses]
