"""The story of `takt demo`: a robot that is late, why, what helps, and what keeps it so beside a
load. Every sentence is chosen by what was measured.
"""
