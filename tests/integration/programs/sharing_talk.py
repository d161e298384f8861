"""sharing_talk.py NAME BYTES [QUALITY]: publishes numbered messages with checksums.

Reads lines: "matched N" waits until N subscriptions are matched, "publish N" publishes that many.
Each is answered by a line when it is done. Ends at the end of its input.
"""

import sys
import time
import zlib

import rclpy
from rclpy.qos import DurabilityPolicy, HistoryPolicy, QoSProfile
from sensor_msgs.msg import Image
from std_msgs.msg import String

name, size = sys.argv[1], int(sys.argv[2])
rclpy.init()
node = rclpy.create_node(f"talk_{name}")
qualities = QoSProfile(depth=1000)
if sys.argv[3:] == ["transient_local"]:
    qualities.durability = DurabilityPolicy.TRANSIENT_LOCAL
if sys.argv[3:] == ["keep_all"]:
    qualities.history = HistoryPolicy.KEEP_ALL
texts = node.create_publisher(String, "text", qualities)
images = node.create_publisher(Image, "image", qualities)
number = 0
for line in sys.stdin:
    word, count = line.split()
    if word == "matched":
        while {p.get_subscription_count() for p in (texts, images)} != {int(count)}:
            time.sleep(0.01)
    else:
        for _ in range(int(count)):
            number += 1
            data = number.to_bytes(4, "little") * (size // 4)
            image = Image(data=data)
            image.header.frame_id = f"{name} {number}"
            image.encoding = str(zlib.crc32(data))
            texts.publish(String(data=f"{name} {number}"))
            images.publish(image)
            time.sleep(0.002)
    print(line.strip(), flush=True)
node.destroy_node()
rclpy.try_shutdown()
