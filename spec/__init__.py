"""The data of the specification: pages, requirement index, JSON Schema and test vectors."""
