"""Tools over files: read, write, edit, find and grep, each on places opened below given roots."""
