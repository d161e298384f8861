// takt-estimator: runs a takt/handoff document as a ROS 2 node (docs/estimation.md). Ends at SIGINT
// or SIGTERM and then prints its diagnostics; errors are one line on standard error and exit
// status 2.

#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <string>
#include <thread>
#include <vector>

#include "estimator_node.hpp"
#include "settings.hpp"
#include "takt/base/try.hpp"
#include "takt/executor/thread_settings.hpp"

namespace takt::estimator {
namespace {

Result<std::unique_ptr<executor::Executor>> make_executor(const Settings& settings,
                                                          EstimatorNode& node, Duration period) {
  if (!settings.rule) {
    auto made = TAKT_TRY(
        executor::WaitSetExecutor::create(node.context(), node.entities(), TimerHandling::polled));
    return std::unique_ptr<executor::Executor>(std::move(made));
  }
  const auto executables = node.executables();
  scheduling::PolicyDescription description{.rule = *settings.rule};
  for (std::size_t i = 0; i < executables.size(); ++i) {
    // Inputs and measurements go before the timer that uses them; requests come last.
    const std::int64_t priority = i == 0 ? 2 : (i == 3 ? 1 : 3);
    description.callbacks.push_back({.category = executables[i].executable->category(),
                                     .priority = priority,
                                     .deadline = i == 3 ? 2 * period : period / (i == 0 ? 1 : 2)});
  }
  executor::EventsExecutor::Options options;
  if (settings.scheduling) {
    // Timers are released before everything but what runs on a reservation.
    options.releaser = linux_os::FifoScheduling{.priority = 90};
  }
  constexpr std::size_t capacity = 256;
  auto made = TAKT_TRY(
      executor::EventsExecutor::create(executables, scheduling::make_policy(description, capacity),
                                       executables.size(), std::move(options)));
  return std::unique_ptr<executor::Executor>(std::move(made));
}

Result<void> main(const std::vector<std::string>& arguments) {
  const Result<Settings> settings = parse_settings(arguments);
  if (!settings) return tl::unexpected(settings.error());
  const auto handoff = TAKT_TRY(estimation::read_handoff(settings->document));
  // Before any thread is made: they all inherit it.
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  auto node = TAKT_TRY(EstimatorNode::create(handoff, settings->name));
  auto executor = TAKT_TRY(make_executor(*settings, *node, handoff.timing.period));
  Result<void> spun;
  {
    // The executor has its own thread, as a thread with a reservation may not make others.
    std::thread spinning([&] {
      Result<void> applied;
      if (settings->scheduling) applied = executor::apply({.scheduling = settings->scheduling});
      spun = node->start(applied ? std::string{} : applied.error().message);
      if (spun) spun = executor->spin();
      // Wakes the thread that waits for signals, if it was not a signal that ended this.
      if (!spun) kill(getpid(), SIGTERM);
    });
    int received = 0;
    sigwait(&signals, &received);
    executor->cancel();
    spinning.join();
  }
  if (!spun) return spun;
  fmt::print("{}\n", node->diagnostics());
  return node->failure();
}

}  // namespace
}  // namespace takt::estimator

int main(int argc, char** argv) {
  const takt::Result<void> result =
      takt::estimator::main(std::vector<std::string>(argv + 1, argv + argc));
  if (result) return 0;
  fmt::print(stderr, "takt-estimator: {}\n", result.error().message);
  return 2;
}
