"""What people read: numbers, times and tables in words, the terminal, and pages."""
