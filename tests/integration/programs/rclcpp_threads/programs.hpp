#pragma once

#include <chrono>

/// What rclcpp_threads can be. Each runs for `time`, and then ends with all its threads.
namespace threads {

using std::chrono::milliseconds;

/// Uses a processor for so long.
void burn(milliseconds time);

/// Threads without an executor (threads.cpp). A node /sink in the same process has a subscription
/// to what they publish, on an executor.
///
/// /lidar publishes /scan every 50 ms, from a thread that sleeps by a rclcpp::Rate.
void rate(milliseconds time);
/// /camera publishes /frames, from a thread that waits for datagrams on the loopback interface;
/// another sends one every 30 ms.
void driver(milliseconds time);
/// /camera's thread is first a driver and then sleeps by a rate.
void driver_then_rate(milliseconds time);
/// A thread sleeps by a rate once, and once more when the context is shut down, which throws.
void rate_after_shutdown(milliseconds time);
/// /poller spins a little, publishes /polled by itself and sleeps.
void spin_some(milliseconds time);
/// A callback of /asker spins until the response of a service has come.
void spin_within_callback(milliseconds time);

/// Executors (executors.cpp).
///
/// /isolated has three callback groups, and each group an executor and a thread.
void isolated(milliseconds time);
/// A timer of /busy publishes /tick, which /busy takes, and triggers a waitable that takes 5 ms, of
/// which no event tells.
void waitable(milliseconds time);

#ifdef HAS_ACTIONS
/// /task sends goals of the action /move to /arm, each of which takes 5 ms (action.cpp).
void action(milliseconds time);
#endif

}  // namespace threads
