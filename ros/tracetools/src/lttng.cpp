#include "lttng.hpp"

#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "start.hpp"

namespace takt::tracetools {

using capture::ring::LttngIs;

namespace {

// Beside libtracetools.so, whose run path leads there.
constexpr const char* providers = "libtakt_tracetools_lttng.so";

constexpr int always = 1;
constexpr int never = 0;

/// LTTng's providers, once they are loaded.
std::atomic<const Lttng*> loaded_providers = nullptr;
/// What load_lttng_when_asked was given.
std::atomic<const std::atomic<std::uint32_t>*> request = nullptr;
std::atomic<std::atomic<LttngIs>*> announcement = nullptr;
std::atomic<bool> is_being_loaded = false;

/// LTTng is asked for while the program runs. This thread may hold a lock for which another thread
/// waits that is loading a library, so it cannot load one itself.
void load_in_a_thread() {
  if (!has_started() || announcement == nullptr || is_being_loaded.exchange(true)) {
    return;
  }
  const auto load = [](void* /*nothing*/) -> void* {
    load_lttng();
    return nullptr;
  };
  pthread_t thread{};
  if (pthread_create(&thread, nullptr, load, nullptr) == 0) {
    pthread_detach(thread);
  } else {
    is_being_loaded = false;
  }
}

constexpr Lttng starter{
    .wanted = {},
#define TAKT_LTTNG_TRACEPOINT(provider, event, fields)             \
  .event = [](TAKT_PARAMETERS(fields)) {                           \
    start();                                                       \
    if (!lttng_wants<EventType::event>()) {                        \
      return;                                                      \
    }                                                              \
    if (const Lttng* loaded = loaded_lttng(); loaded != nullptr) { \
      loaded->event(TAKT_ARGUMENTS(fields));                       \
    } else {                                                       \
      load_in_a_thread();                                          \
    }                                                              \
  },
#include "own_tracepoints.def"
#undef TAKT_LTTNG_TRACEPOINT
    .close = nullptr,
    .close_stream = nullptr,
    .close_from = nullptr,
    .lock_descriptors = nullptr,
    .unlock_descriptors = nullptr,
};

template <std::size_t... numbers>
constexpr auto always_wanted(std::index_sequence<numbers...> /*of events*/) noexcept {
  return std::array<std::atomic<const int*>, sizeof...(numbers)>{((void)numbers, &always)...};
}

struct Closes {
  void operator()(DIR* directory) const { closedir(directory); }
};

/// Whether a daemon listens at a socket. It does not notice the question: to a socket of another
/// type nothing connects, but the error tells one with a listener from one that was left behind.
bool has_listener(const std::string& path) {
  sockaddr_un address{};
  if (path.size() >= sizeof address.sun_path) {
    return false;
  }
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, path.size());
  const int question = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  const bool listens =
      question >= 0 &&
      connect(question, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 &&
      errno == EPROTOTYPE;
  if (question >= 0) {
    close(question);
  }
  return listens;
}

/// Whether a session daemon has its socket for programs in a directory. The number at the end of
/// the socket's name is that of LTTng's protocol.
bool has_daemon(const std::string& directory) {
  const std::unique_ptr<DIR, Closes> files(opendir(directory.c_str()));
  while (const dirent* file = files ? readdir(files.get()) : nullptr) {
    if (std::string_view(file->d_name).starts_with("lttng-ust-sock-") &&
        has_listener(directory + "/" + file->d_name)) {
      return true;
    }
  }
  return false;
}

/// The daemons that LTTng's library would look for: root's, and this user's.
bool some_daemon_is_there() {
  const auto value = [](const char* variable) -> std::string {
    const char* text = std::getenv(variable);
    return text != nullptr ? text : "";
  };
  const std::string home = value("LTTNG_HOME").empty() ? value("HOME") : value("LTTNG_HOME");
  const std::string chosen = value("LTTNG_UST_APP_PATH");
  return has_daemon("/var/run/lttng") || (!home.empty() && has_daemon(home + "/.lttng")) ||
         (!chosen.empty() && has_daemon(chosen));
}

const Lttng* load_providers() {
  void* const library = dlopen(providers, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  return library != nullptr ? static_cast<const Lttng*>(dlsym(library, lttng_symbol)) : nullptr;
}

}  // namespace

constinit std::atomic<const Lttng*> lttng = &starter;
constinit std::array<std::atomic<const int*>, tracepoints::of_programs.size()> lttng_wanted =
    always_wanted(std::make_index_sequence<tracepoints::of_programs.size()>());

const Lttng* loaded_lttng() { return loaded_providers.load(std::memory_order_acquire); }

void load_lttng() {
  const Lttng* loaded = some_daemon_is_there() ? load_providers() : nullptr;
  auto* const state = announcement.load();
  if (loaded == nullptr) {
    if (state != nullptr) *state = LttngIs::impossible;
    load_lttng_when_asked(nullptr, nullptr);
    return;
  }
  loaded_providers = loaded;
  if (has_started()) tell_what_is_wanted();
  if (state != nullptr) *state = LttngIs::present;
}

void load_lttng_when_asked(const std::atomic<std::uint32_t>* asked, std::atomic<LttngIs>* state) {
  if (loaded_lttng() != nullptr) {
    return;
  }
  announcement = state;
  request = asked;
  if (has_started()) tell_what_is_wanted();
}

void tell_what_is_wanted() {
  const Lttng* loaded = loaded_lttng();
  if (loaded == nullptr) {
    const auto* asked = request.load();
    const auto* wanted = asked != nullptr ? reinterpret_cast<const int*>(asked) : &never;
    std::ranges::fill(lttng_wanted, wanted);
    return;
  }
  lttng = loaded;
  for (std::size_t number = 0; number < lttng_wanted.size(); ++number) {
    const int* wanted = loaded->wanted[number];
    lttng_wanted[number] = wanted != nullptr ? wanted : &never;
  }
}

}  // namespace takt::tracetools
