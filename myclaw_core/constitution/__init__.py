"""The five laws, executable and not learned."""
