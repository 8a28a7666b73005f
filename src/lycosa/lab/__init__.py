"""Webs to try a crawler on, generated or recorded, and the measures that say how well it did."""
