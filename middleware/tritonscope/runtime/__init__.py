"""The runtime half: makes a user's model observable inside its stub process, and changes nothing else."""
