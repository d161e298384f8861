"""Takt: real-time execution management for ROS 2."""

__version__ = "0.1.0"
