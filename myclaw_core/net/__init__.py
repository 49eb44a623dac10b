"""The network: what the policy judges is what a tool reaches."""
