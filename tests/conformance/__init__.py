"""One suite for every store. A store's only excuses are its declared capabilities."""
