"""The verbs of a smart home, one file per kind of device."""
