"""One file per page: what it is asked, and what it shows as plain values."""
