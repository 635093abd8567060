"""What a device may look like, wherever it comes from: home file, network or store."""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Callable, Iterable
from dataclasses import replace
from urllib.parse import urlsplit

from agentkit.devices.adapter import Device
from agentkit.devices.report import check_report
from agentkit.errors import DeviceError

MAX_DEVICES = 2_000
MAX_ID = 100
MAX_NAME = 100
MAX_ALIASES = 40
MAX_ENDPOINT = 500

ID = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9_.: -]*[A-Za-z0-9_.:-])?")
TYPE = re.compile(r"[a-z][a-z0-9_]{0,39}")

HOME_NETWORKS = tuple(
    map(
        ipaddress.ip_network,
        ("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "::1/128", "fc00::/7"),
    )
)
"""Loopback and private addresses. Link-local ones are not among them: cloud metadata is served there."""

Resolver = Callable[[str, int], Iterable[str]]
"""Host name and port → IP addresses."""


def check_device(device: Device, area_ids: Iterable[str]) -> Device:
    """Return the device with attributes that nobody can change; raise DeviceError naming the first thing wrong."""
    if not isinstance(device.id, str) or len(device.id) > MAX_ID or not ID.fullmatch(device.id):
        raise DeviceError(
            f"device id {short(device.id)}: wanted up to {MAX_ID} of a-z, A-Z, 0-9 and _ . : -, for example light.desk"
        )
    if not isinstance(device.type, str) or not TYPE.fullmatch(device.type):
        raise DeviceError(f"device {device.id}: type is {short(device.type)}, wanted a word such as light or cover")
    if len(device.aliases) > MAX_ALIASES:
        raise DeviceError(f"device {device.id}: {len(device.aliases)} aliases, at most {MAX_ALIASES} are kept")
    for name in device.names:
        if not is_name(name):
            raise DeviceError(f"device {device.id}: name {short(name)} must have 1 to {MAX_NAME} printable characters")
    known = tuple(area_ids)
    if device.area is not None and device.area not in known:
        raise DeviceError(
            f"device {device.id}: area {short(device.area)} is unknown; known are {', '.join(known) or 'none'}"
        )
    if device.endpoint is not None:
        split_endpoint(device.endpoint)
    return check_report(replace(device, aliases=tuple(device.aliases)))


def is_name(text: object) -> bool:
    """True if text can be said and printed as a name."""
    return isinstance(text, str) and bool(text.strip()) and len(text) <= MAX_NAME and text.isprintable()


def split_endpoint(url: str) -> tuple[str, str, int]:
    """Split a device URL into scheme, host and port. Raises DeviceError if it is not plain http(s)."""
    try:
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError as err:
        raise DeviceError(f"endpoint {short(url)}: not a URL ({err})") from err
    if len(url) > MAX_ENDPOINT or parts.scheme not in ("http", "https") or not parts.hostname or not url.isprintable():
        raise DeviceError(f"endpoint {short(url)}: wanted http://host:port/path on the home network")
    if parts.username is not None or parts.password is not None:
        raise DeviceError(f"endpoint of {parts.hostname}: a user name or password in the URL is not accepted")
    return parts.scheme, parts.hostname, port


def check_endpoint(url: str, resolve: Resolver | None = None) -> str:
    """Return the address a device URL leads to, if it stays on this machine or the private network.

    Raises DeviceError for every address outside HOME_NETWORKS, so that registering a device cannot turn the agent into
    a way out of the home.
    """
    _, host, port = split_endpoint(url)
    addresses = [ipaddress.ip_address(text.partition("%")[0]) for text in (resolve or _resolve)(host, port)]
    if not addresses:
        raise DeviceError(f"endpoint {short(url)}: its host has no address")
    for address in addresses:
        if not _is_home_address(address):
            raise DeviceError(
                f"endpoint {short(url)}: {host} is {address}, wanted a loopback or private address; "
                "devices outside the home network are not called"
            )
    return str(addresses[0])


def _is_home_address(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    if isinstance(address, ipaddress.IPv6Address) and address.ipv4_mapped is not None:
        address = address.ipv4_mapped
    return any(address in network for network in HOME_NETWORKS)


def _resolve(host: str, port: int) -> list[str]:
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as err:
        raise DeviceError(f"endpoint host {short(host)}: cannot be resolved ({err})") from err
    return [str(row[4][0]) for row in found]


def short(value: object) -> str:
    """Show a value of anywhere in a message: on one line, printable, and not long."""
    text = repr(str.__str__(value)) if isinstance(value, str) else type(value).__name__
    return text if len(text) <= 80 else text[:77] + "..."
