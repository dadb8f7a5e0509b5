"""The report: a run as one document, and everything made from it; nothing here plays a case."""
