"""From sample scores to the figures that are published."""
