// The program behind `takt manage`: takes its settings as one JSON argument, says on standard
// output what happens, a JSON line each, and ends when standard input does.

#include <linux/capability.h>

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>

#include "daemon.hpp"
#include "takt/base/capabilities.hpp"
#include "takt/base/printable.hpp"
#include "takt/linux/ending.hpp"

namespace {

int fail(const std::string& message) {
  std::fprintf(stderr, "takt: %s\n", takt::printable(message).c_str());
  return 2;
}

}  // namespace

int main(int count, char** arguments) {
  using takt::manager::Daemon;
  auto settings = takt::manager::parse_settings(count == 2 ? arguments[1] : "");
  if (!settings) return fail(settings.error().message);
  std::unique_ptr<takt::linux_os::Guard> guard;
  if (!settings->dry_run) {
    using takt::linux_os::Isolation;
    const bool pins = !settings->pinned || !settings->pinned->empty();
    // Before there are threads.
    auto started = takt::linux_os::Guard::start(pins ? Isolation::possible : Isolation::none);
    if (!started) return fail(started.error().message);
    guard = std::move(*started);
  }
  const int signals = takt::linux_os::ending_signals();
  signal(SIGPIPE, SIG_IGN);
  if (guard) {
    if (const auto able = takt::linux_os::check_deadline_scheduling(); !able) {
      return fail(able.error().message + "; takt manage --dry-run needs no privilege");
    }
  }
  // Older kernels tell only those with this capability what probes missed.
  const bool has_probes = settings->backend == takt::capture::Tracer::ebpf;
  const std::uint64_t counting = has_probes ? takt::capability(CAP_BPF) : 0;
  auto daemon = Daemon::start(std::move(*settings), std::move(guard));
  if (!daemon) return fail(daemon.error().message);
  takt::try_to_keep_only_capabilities(takt::scheduling_capabilities | takt::watching_capabilities |
                                      counting);
  std::fputs((*daemon)->greeting().c_str(), stdout);
  std::fflush(stdout);
  const std::string reason = (*daemon)->run(signals);
  std::fputs((*daemon)->status_line().c_str(), stdout);
  std::fflush(stdout);
  return reason.empty() ? 0 : 2;
}
