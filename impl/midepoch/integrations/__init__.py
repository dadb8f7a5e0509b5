"""Thin adapters to trainers; each module needs its trainer's package, and nothing imports it."""
