"""The report: a run as one document, and everything made of it; nothing here plays a case."""
