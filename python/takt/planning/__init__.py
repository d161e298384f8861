"""What would follow from a plan, and plans that follow from a model."""
