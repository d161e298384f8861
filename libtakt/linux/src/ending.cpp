#include "takt/linux/ending.hpp"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <array>
#include <csignal>

namespace takt::linux_os {

int ending_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, number);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signalfd(-1, &signals, SFD_CLOEXEC);
}

Ending::Ending(std::atomic<bool>& stop) : stop_(stop), signals_(ending_signals()) {
  thread_ = std::thread([this] { watch(); });
}

Ending::~Ending() {
  stop_ = true;
  thread_.join();
  close(signals_);
}

void Ending::watch() {
  constexpr int milliseconds = 100;
  while (!stop_) {
    std::array<pollfd, 2> sources{{{.fd = signals_, .events = POLLIN, .revents = 0},
                                   {.fd = STDIN_FILENO, .events = POLLIN, .revents = 0}}};
    if (poll(sources.data(), sources.size(), milliseconds) <= 0) continue;
    std::array<char, 256> buffer{};
    if (sources[0].revents != 0 || read(STDIN_FILENO, buffer.data(), buffer.size()) <= 0) {
      stop_ = true;
    }
  }
}

}  // namespace takt::linux_os
