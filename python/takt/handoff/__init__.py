"""Design of safe hand-overs between a linear and a nonlinear estimator (`takt handoff`)."""
