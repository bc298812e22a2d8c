"""The papers' tables, and their numbers derived from them again."""
