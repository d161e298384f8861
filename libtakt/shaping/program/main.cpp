// takt-dispatch: gives the threads of some processes a real-time priority inside slots. People use
// `takt apply --dispatch`, which starts it:
//
//   takt-dispatch SETTINGS        a JSON object (settings.hpp)
//   takt-dispatch -               reads it from the first line of standard input, as the kernel
//                                 limits how long an argument is
//
// It writes {"event": "started"}, and {"event": "stopped", …} at its end. It ends when its standard
// input does, or by SIGINT or SIGTERM. Then all threads are scheduled as they were, also if it is
// killed. Errors are one line on standard error and exit status 2.

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <iostream>
#include <string>

#include "dispatcher.hpp"
#include "takt/base/try.hpp"
#include "takt/linux/ending.hpp"
#include "takt/linux/thread_clock.hpp"

namespace takt::shaping {
namespace {

Result<void> main(const std::string& text) {
  const auto settings = TAKT_TRY(parse_settings(text));
  const auto guard = linux_os::Guard::start();  // before this process has another priority
  if (!guard) return tl::unexpected(guard.error());
  const int signals = linux_os::ending_signals();
  if (const auto set = linux_os::set_scheduling(0, linux_os::FifoScheduling{settings.priority});
      !set) {
    return error("threads cannot be dispatched: {}", set.error().message);
  }
  Dispatcher dispatcher(settings, **guard);
  fmt::print("{{\"event\": \"started\"}}\n");
  std::fflush(stdout);
  const Result<void> ran = dispatcher.run({STDIN_FILENO, signals});
  const std::size_t threads = dispatcher.threads();
  (*guard)->restore();
  if (!ran) return ran;
  fmt::print(
      "{{\"event\": \"stopped\", \"switches\": {}, \"threads\": {}, \"processor_time\": {}}}\n",
      dispatcher.switches(), threads, linux_os::thread_cpu_time().count());
  return {};
}

}  // namespace
}  // namespace takt::shaping

int main(int count, char** arguments) {
  std::string settings = count == 2 ? arguments[1] : "";
  if (settings == "-") std::getline(std::cin, settings);
  const takt::Result<void> result = takt::shaping::main(settings);
  if (result) return 0;
  fmt::print(stderr, "takt-dispatch: {}\n", result.error().message);
  return 2;
}
