"""Whether a judge of drafts can judge, and what it says where it can."""
