"""The commands of scripts/hardware.py, a module each, and what they share."""
