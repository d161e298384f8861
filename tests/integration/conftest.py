"""Every ROS 2 program that a test starts keeps to the loopback interface."""

import os

from takt import loopback

inherited = loopback.environment()
os.environ.clear()
os.environ.update(inherited)
