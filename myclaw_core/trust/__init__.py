"""Trust arithmetic, its book and the promotion rule."""
