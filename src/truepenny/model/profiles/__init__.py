"""Model profiles as data: one file per kind of vendor, read by `truepenny.model.profile_data`."""
