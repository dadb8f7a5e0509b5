"""The run: hosts are started, cases played, and failures taken to their causes; it emits events."""
