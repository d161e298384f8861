"""What measurements and bounds say of goals: verdicts, what they rest on, and remedies."""
