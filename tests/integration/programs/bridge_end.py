"""A node that does what it is told: one JSON object a line on standard input.

    {"do": "advertise", "topic": "/a", "reliable": true, "latched": false, "depth": 10}
    {"do": "subscribe", …}
    {"do": "publish", "topic": "/a", "texts": ["x", …]}        waits for subscriptions first
    {"do": "offers", "topic": "/a"}       how the topic is published

Answers, and what it hears, are JSON objects on standard output; long texts as a digest.
"""

import hashlib
import json
import sys
import threading
from typing import Any

import rclpy
from rclpy.node import Node
from rclpy.qos import DurabilityPolicy, QoSProfile, ReliabilityPolicy
from std_msgs.msg import String

LONGEST = 200
saying = threading.Lock()


def say(line: dict[str, Any]) -> None:
    with saying:
        print(json.dumps(line), flush=True)


def quality(command: dict[str, Any]) -> QoSProfile:
    reliable, latched = command.get("reliable", True), command.get("latched", False)
    return QoSProfile(
        depth=command.get("depth", 1000),
        reliability=ReliabilityPolicy.RELIABLE if reliable else ReliabilityPolicy.BEST_EFFORT,
        durability=DurabilityPolicy.TRANSIENT_LOCAL if latched else DurabilityPolicy.VOLATILE,
    )


def digest(text: str) -> str:
    if len(text) <= LONGEST:
        return text
    return f"{len(text)} {hashlib.sha256(text.encode()).hexdigest()}"


class End:
    def __init__(self, node: Node) -> None:
        self.node = node
        self.publishers: dict[str, Any] = {}

    def obey(self, command: dict[str, Any]) -> None:
        topic = command["topic"]
        match command["do"]:
            case "advertise":
                self.publishers[topic] = self.node.create_publisher(String, topic, quality(command))
                say({"did": "advertise"})
            case "subscribe":
                self.node.create_subscription(
                    String,
                    topic,
                    lambda message: say({"topic": topic, "text": digest(message.data)}),
                    quality(command),
                )
                say({"did": "subscribe"})
            case "matched":
                while self.publishers[topic].get_subscription_count() < command["count"]:
                    threading.Event().wait(0.01)
                say({"did": "matched"})
            case "publish":
                for text in command["texts"]:
                    self.publishers[topic].publish(String(data=text))
                say({"did": "publish"})
            case "fill":
                for letter in command["letters"]:
                    self.publishers[topic].publish(String(data=letter * command["length"]))
                say({"did": "fill"})
            case "offers":
                offers = self.node.get_publishers_info_by_topic(topic)
                say(
                    {
                        "did": "offers",
                        "offers": [
                            [
                                one.topic_type,
                                one.qos_profile.reliability.name,
                                one.qos_profile.durability.name,
                            ]
                            for one in offers
                        ],
                    }
                )


rclpy.init()
end = End(Node("end"))
threading.Thread(target=rclpy.spin, args=(end.node,), daemon=True).start()
for line in sys.stdin:
    end.obey(json.loads(line))
