from __future__ import annotations

from tests.server.conftest import Live


def test_rooms_are_told(live: Live) -> None:
    with live.client as client:
        home = client.get("/v1/home").json()

    assert home == {
        "id": "test",
        "language": "en",
        "speaker_area": None,
        "areas": [
            {"id": "kitchen", "name": "Kitchen", "aliases": [], "floor": None},
            {"id": "hall", "name": "Hall", "aliases": [], "floor": None},
        ],
        "floors": [],
    }
