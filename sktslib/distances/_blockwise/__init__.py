"""Collections compared block by block, each block a call of its own."""
