"""Transport: bytes between processes; this room knows no batch's meaning and no position."""
