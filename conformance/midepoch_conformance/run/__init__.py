"""The run: it starts hosts, plays cases, finds the causes of failures, and emits events."""
