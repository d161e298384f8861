#pragma once

#include <cstddef>

#include "rclcpp/rclcpp.hpp"

/// Publishes images of `size` bytes at 30 Hz and prints when each was published.
void send_timed(std::size_t size, int count);
/// Prints when each of them was heard.
void hear_timed(rclcpp::Executor& executor, int count);
