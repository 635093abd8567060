from __future__ import annotations

import pytest

from agentkit.devices.validate import check_endpoint, split_endpoint
from agentkit.errors import DeviceError


@pytest.mark.parametrize("host", ["127.0.0.1", "10.1.2.3", "192.168.1.20", "172.16.0.9", "[::1]", "[fd00::12]"])
def test_addresses_of_the_home_network_are_accepted(host: str) -> None:
    assert check_endpoint(f"http://{host}:8080/light") == host.strip("[]")


@pytest.mark.parametrize(
    "host",
    ["8.8.8.8", "169.254.169.254", "0.0.0.0", "224.0.0.1", "255.255.255.255", "[::]", "[fe80::1]", "[2001:4860::1]",
     "[::ffff:8.8.8.8]", "192.0.0.8", "192.0.2.1", "198.18.0.1", "198.51.100.7", "203.0.113.9", "100.64.0.1",
     "240.0.0.1", "[100::1]", "[2001:db8::1]", "[64:ff9b::7f00:1]", "[::127.0.0.1]", "[::ffff:198.18.0.1]",
     "[fec0::1]", "[2002:7f00:1::]"],
)  # fmt: skip
def test_public_and_special_addresses_are_refused(host: str) -> None:
    with pytest.raises(DeviceError, match="wanted a loopback or private address"):
        check_endpoint(f"http://{host}/light")


def test_one_public_address_of_a_name_is_enough_to_refuse_it() -> None:
    with pytest.raises(DeviceError, match=r"lamp\.local is 1\.1\.1\.1"):
        check_endpoint("http://lamp.local/", lambda host, port: ["192.168.1.2", "1.1.1.1"])


def test_a_name_without_an_address_is_refused() -> None:
    with pytest.raises(DeviceError, match="cannot be resolved"):
        check_endpoint("http://no-such-host.invalid/")


@pytest.mark.parametrize(
    "url",
    ["ftp://10.0.0.1/", "http:///x", "10.0.0.1", "http://10.0.0.1:99999/", "http://user:pw@10.0.0.1/", "http://[::1",
     "http://10.0.0.1/\r\nX: y", "http://10.0.0.1/" + "x" * 600],
)  # fmt: skip
def test_what_is_no_plain_http_url_is_refused(url: str) -> None:
    with pytest.raises(DeviceError):
        split_endpoint(url)
