// takt-probe: runs rclcpp's executors, and prints what they ran, as one JSON object (probe.hpp).

#include <fmt/core.h>

#include <exception>

#include "probe.hpp"
#include "rclcpp/rclcpp.hpp"

int main(int argc, char** argv) {
  rclcpp::init(argc, argv);
  try {
    takt::probe::print(takt::probe::stock());
  } catch (const std::exception& error) {
    fmt::print(stderr, "takt-probe: {}\n", error.what());
    return 1;
  }
  rclcpp::shutdown();
  return 0;
}
