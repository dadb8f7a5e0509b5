"""What midepoch's own format says of documents and orders, computed without the loader; pure."""
