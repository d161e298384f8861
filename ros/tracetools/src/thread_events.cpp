// Events that rclcpp does not emit: a rate puts a thread to sleep, and a thread spins an executor
// for a limited time. This library is preloaded, so its functions of the same names stand before
// those of rclcpp. Each calls the real function and emits the events around it.

#include <cstdint>

#include "next_function.hpp"
#include "takt/tracetools/takt_tracetools.h"

namespace {

using takt::tracetools::next_function;

/// The calling convention of these member functions: the object comes first,
/// std::chrono::nanoseconds is passed as the integer that it holds, and a result of the size of a
/// register is returned in one.
using Sleep = bool(void* rate);
using Period = std::int64_t(const void* rate);
using SpinUntil = std::int32_t(void* executor, std::int64_t timeout, const void* wait_for_future);

template <typename Function>
Function* next(const char* name, const void* ours) {
  return reinterpret_cast<Function*>(next_function(name, ours));
}

}  // namespace

// Literals, as the names of functions must be.
#define TAKT_SLEEP "_ZN6rclcpp4Rate5sleepEv"
#define TAKT_PERIOD "_ZNK6rclcpp4Rate6periodEv"
#define TAKT_SPIN                                                                           \
  "_ZN6rclcpp8Executor31spin_until_future_complete_implENSt6chrono8durationIlSt5ratioILl1E" \
  "Ll1000000000EEEERKSt8functionIFSt13future_statusS5_EE"

extern "C" {

/// rclcpp::Rate::sleep()
TAKT_TRACETOOLS_PUBLIC bool takt_rate_sleep(void* rate) __asm__(TAKT_SLEEP);
/// rclcpp::Executor::spin_until_future_complete_impl(…)
TAKT_TRACETOOLS_PUBLIC std::int32_t takt_spin_until(void* executor, std::int64_t timeout,
                                                    const void* wait_for_future) __asm__(TAKT_SPIN);

bool takt_rate_sleep(void* rate) {
  static auto* const sleep =
      next<Sleep>(TAKT_SLEEP, reinterpret_cast<const void*>(&takt_rate_sleep));
  static auto* const period = next<Period>(TAKT_PERIOD, nullptr);
  /// Ends also when the real function throws, because the context was shut down.
  struct Asleep {
    explicit Asleep(std::int64_t expected) { takt_trace_rate_sleep(expected); }
    ~Asleep() { takt_trace_rate_wakeup(); }
    Asleep(const Asleep&) = delete;
    Asleep& operator=(const Asleep&) = delete;
  } const asleep(period != nullptr ? period(rate) : 0);
  return sleep != nullptr && sleep(rate);
}

std::int32_t takt_spin_until(void* executor, std::int64_t timeout, const void* wait_for_future) {
  static auto* const spin =
      next<SpinUntil>(TAKT_SPIN, reinterpret_cast<const void*>(&takt_spin_until));
  /// Ends also when a callback throws.
  struct Limited {
    Limited() { takt_trace_limited_spin(true); }
    ~Limited() { takt_trace_limited_spin(false); }
    Limited(const Limited&) = delete;
    Limited& operator=(const Limited&) = delete;
  } const limited;
  constexpr std::int32_t interrupted = 1;  // rclcpp::FutureReturnCode::INTERRUPTED
  return spin != nullptr ? spin(executor, timeout, wait_for_future) : interrupted;
}

}  // extern "C"
