"""`myclaw serve`: messengers, scheduled work and their health in one process that runs on and on."""
