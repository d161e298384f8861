// The program behind `takt apply THREADS.yaml`: takes its settings as one JSON argument, says on
// standard output what happens, a JSON line each, and ends when standard input does.

#include <csignal>
#include <cstdio>
#include <string>
#include <utility>

#include "keeper.hpp"
#include "settings.hpp"
#include "takt/base/capabilities.hpp"
#include "takt/base/printable.hpp"
#include "takt/linux/affinity.hpp"
#include "takt/linux/ending.hpp"
#include "takt/linux/exclusive_cores.hpp"

namespace {

int fail(const std::string& message) {
  std::fprintf(stderr, "takt: %s\n", takt::printable(message).c_str());
  return 2;
}

/// Whether threads may be scheduled as the rows say, tried before any program starts.
takt::Result<void> check(const std::vector<takt::threads::Row>& rows) {
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (const auto may = takt::linux_os::check_scheduling(rows[r].scheduling); !may) {
      return takt::error("threads[{}] ({}): {}", r, subject_of(rows[r]), may.error().message);
    }
  }
  return {};
}

}  // namespace

int main(int count, char** arguments) {
  using takt::linux_os::Guard;
  using takt::linux_os::Isolation;
  auto settings = takt::threads::parse_settings(count == 2 ? arguments[1] : "");
  if (!settings) return fail(settings.error().message);
  const auto processors = takt::linux_os::affinity(0);
  if (!processors) return fail(processors.error().message);
  auto rows = takt::threads::parse(settings->text, settings->source, *processors);
  if (!rows) return fail(rows.error().message);
  const auto exclusive = takt::threads::exclusive_cores(*rows, *processors);
  // Before there are threads.
  auto guard = Guard::start(exclusive.empty() ? Isolation::none : Isolation::possible);
  if (!guard) return fail(guard.error().message);
  const int signals = takt::linux_os::ending_signals();
  signal(SIGPIPE, SIG_IGN);
  if (const auto may = check(*rows); !may) {
    return fail(settings->source + ": " + may.error().message);
  }
  if (!exclusive.empty()) {
    if (exclusive.size() >= processors->size()) {
      return fail(settings->source +
                  ": reservations would have every core for themselves; leave at least one");
    }
    if (const auto done = (*guard)->isolate(exclusive); !done) {
      return fail(settings->source + ": reservations cannot be kept on cores: " +
                  done.error().message + "; remove 'cores' from the rows with 'policy: deadline'");
    }
  }
  auto keeper = takt::threads::Keeper::start(std::move(*rows), exclusive, settings->only_started,
                                             std::move(*guard));
  if (!keeper) return fail(keeper.error().message);
  takt::try_to_keep_only_capabilities(takt::scheduling_capabilities | takt::watching_capabilities);
  std::fputs((*keeper)->greeting().c_str(), stdout);
  std::fflush(stdout);
  const std::string reason = (*keeper)->run(signals);
  if (!reason.empty()) fail(reason);
  std::fputs((*keeper)->document().c_str(), stdout);
  std::fflush(stdout);
  return reason.empty() ? 0 : 2;
}
