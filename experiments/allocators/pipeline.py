"""A camera's pipeline in one process: three nodes of rclpy with numpy, whose allocations are
recorded by recorder.cpp. See README.md.

    TAKT_ALLOCATIONS=trace LD_PRELOAD=liballocation_recorder.so python pipeline.py 60
"""

from __future__ import annotations

import sys

import numpy as np
import rclpy
from numpy.typing import NDArray
from rclpy.executors import SingleThreadedExecutor
from rclpy.node import Node
from sensor_msgs.msg import Image

WIDTH, HEIGHT = 1920, 1080
Pixels = NDArray[np.uint8]


def image_of(pixels: Pixels, encoding: str) -> Image:
    height, width = pixels.shape[:2]
    message = Image(height=height, width=width, encoding=encoding)
    message.step = pixels.nbytes // height
    message.data.frombytes(pixels.tobytes())
    return message


def pixels_of(message: Image) -> Pixels:
    shape = (message.height, message.width, message.step // message.width)
    return np.frombuffer(message.data, dtype=np.uint8).reshape(shape)


class Camera(Node):  # type: ignore[misc]
    """Publishes random images in colour."""

    def __init__(self) -> None:
        super().__init__("camera")
        self._out = self.create_publisher(Image, "raw", 2)
        self._random = np.random.default_rng(1)
        self.create_timer(0.05, self._publish)

    def _publish(self) -> None:
        pixels = self._random.integers(0, 256, (HEIGHT, WIDTH, 3), dtype=np.uint8)
        self._out.publish(image_of(pixels, "rgb8"))


class Halve(Node):  # type: ignore[misc]
    """Publishes grey images, half as wide and as high."""

    def __init__(self) -> None:
        super().__init__("halve")
        self._out = self.create_publisher(Image, "grey", 2)
        self.create_subscription(Image, "raw", self._on_image, 2)

    def _on_image(self, message: Image) -> None:
        grey = pixels_of(message).astype(np.float32).mean(axis=2)
        half = grey.reshape(HEIGHT // 2, 2, WIDTH // 2, 2).mean(axis=(1, 3))
        self._out.publish(image_of(half.astype(np.uint8), "mono8"))


class Features(Node):  # type: ignore[misc]
    """Finds the points with the steepest edges."""

    def __init__(self, images: int) -> None:
        super().__init__("features")
        self.left = images
        self.create_subscription(Image, "grey", self._on_image, 2)

    def _on_image(self, message: Image) -> None:
        grey = pixels_of(message)[:, :, 0].astype(np.float32)
        down, right = np.gradient(grey)
        steepness = np.hypot(down, right)
        strongest = np.argpartition(steepness.ravel(), -2000)[-2000:]
        patches = [grey.ravel()[at : at + 32] for at in strongest if at + 32 <= grey.size]
        np.stack(patches)
        self.left -= 1


def main(images: int) -> None:
    rclpy.init()
    features = Features(images)
    executor = SingleThreadedExecutor()
    for node in (Camera(), Halve(), features):
        executor.add_node(node)
    while features.left > 0:
        executor.spin_once(timeout_sec=1)
    rclpy.try_shutdown()


if __name__ == "__main__":
    main(int(sys.argv[1]))
