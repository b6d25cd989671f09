"""One file per wire format; parallel names with providers and profiles."""
