"""The commands of scripts/measure.py, a module each."""
