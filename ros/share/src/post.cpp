#include "post.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <thread>
#include <utility>

#include "takt/memory/memory_file.hpp"
#include "takt/memory/socket.hpp"
#include "terms.hpp"

namespace takt::share {

namespace {

constexpr std::chrono::milliseconds look_again_after{200};
std::atomic<bool> forked = false;

void add_to(int poller, int descriptor) {
  epoll_event event{};
  event.events = EPOLLIN;
  event.data.fd = descriptor;
  epoll_ctl(poller, EPOLL_CTL_ADD, descriptor, &event);
}

/// Reads what is there, and forgets it.
void drain(int descriptor) {
  std::array<char, 4096> ignored{};
  // The analyzer takes lock() of a weak pointer for that of a mutex.
  // NOLINTNEXTLINE(clang-analyzer-unix.BlockInCriticalSection)
  while (read(descriptor, ignored.data(), ignored.size()) > 0) {
  }
}

/// The names of processes are not the same in all namespaces that have the folder.
std::uint64_t process_namespace() {
  struct stat found {};
  return stat("/proc/self/ns/pid", &found) == 0 ? found.st_ino : 0;
}

/// How the socket of a process for `takt share --status` is called.
constexpr std::string_view status_name = "status.";

/// Removes what processes of this namespace have left that were killed.
void remove_left_statuses() {
  const std::string suffix = fmt::format(".{}", process_namespace());
  for (const std::string& name : names_in_folder()) {
    if (!name.starts_with(status_name) || !name.ends_with(suffix)) continue;
    pid_t process = 0;
    std::from_chars(name.data() + status_name.size(), name.data() + name.size(), process);
    if (process > 0 && kill(process, 0) != 0 && errno == ESRCH) {
      unlink(fmt::format("{}/{}", *folder(), name).c_str());
    }
  }
}

/// A name that may be none of ROS 2, harmless in JSON.
std::string harmless(std::string name) {
  for (char& one : name) {
    if (one < ' ' || one > '~' || one == '"' || one == '\\') one = '?';
  }
  return name;
}

}  // namespace

bool is_forked() { return forked.load(std::memory_order_relaxed); }

Post& post() {
  static Post* const one = new Post;
  return *one;
}

Post::Post()
    : poller_(epoll_create1(EPOLL_CLOEXEC)),
      folder_watch_(inotify_init1(IN_CLOEXEC | IN_NONBLOCK)),
      asked_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      status_path_(
          fmt::format("{}/{}{}.{}", *folder(), status_name, getpid(), process_namespace())),
      process_(getpid()) {
  if (folder_watch_) {
    inotify_add_watch(folder_watch_.get(), folder()->c_str(), IN_MOVED_TO | IN_ONLYDIR);
    add_to(poller_.get(), folder_watch_.get());
  }
  remove_left_statuses();
  unlink(status_path_.c_str());  // of a process that had this number before
  if (auto status = memory::listen_at(status_path_)) {
    status_ = std::move(*status);
    add_to(poller_.get(), status_.get());
  }
  if (asked_) add_to(poller_.get(), asked_.get());
  pthread_atfork(nullptr, nullptr, [] { forked = true; });
  std::atexit([] { post().remove_files(); });
  // Signals are the program's.
  sigset_t all{};
  sigset_t before{};
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  std::thread([this] { run(); }).detach();
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void Post::add(const std::shared_ptr<Endpoint>& endpoint) {
  const std::scoped_lock lock(mutex_);
  endpoints_[endpoint.get()] = endpoint;
}

void Post::remove(const Endpoint& endpoint) {
  const std::scoped_lock lock(mutex_);
  endpoints_.erase(&endpoint);
}

void Post::watch(int socket, const std::shared_ptr<Endpoint>& endpoint) {
  {
    const std::scoped_lock lock(mutex_);
    watched_[socket] = endpoint;
  }
  add_to(poller_.get(), socket);
}

void Post::unwatch(int socket) {
  epoll_ctl(poller_.get(), EPOLL_CTL_DEL, socket, nullptr);
  const std::scoped_lock lock(mutex_);
  watched_.erase(socket);
}

void Post::look_soon() {
  const std::uint64_t once = 1;
  static_cast<void>(write(asked_.get(), &once, sizeof once));
}

void Post::refused(const void* end, std::string topic, std::string kind, std::string why) {
  const std::scoped_lock lock(mutex_);
  refused_[end] = {
      .topic = harmless(std::move(topic)), .kind = std::move(kind), .why = std::move(why)};
}

void Post::forget(const void* end) {
  const std::scoped_lock lock(mutex_);
  refused_.erase(end);
}

std::vector<std::shared_ptr<Endpoint>> Post::endpoints() {
  const std::scoped_lock lock(mutex_);
  std::vector<std::shared_ptr<Endpoint>> found;
  for (const auto& [key, endpoint] : endpoints_) {
    if (auto there = endpoint.lock()) found.push_back(std::move(there));
  }
  return found;
}

void Post::look_around() {
  look_at_ = never;
  for (const auto& endpoint : endpoints()) {
    if (!endpoint->look()) look_at_ = Clock::now() + look_again_after;
  }
}

int Post::patience() const {
  if (look_at_ == never) return -1;
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(look_at_ - Clock::now());
  return static_cast<int>(std::max(left, std::chrono::milliseconds{0}).count());
}

std::shared_ptr<Endpoint> Post::watcher_of(int socket) {
  const std::scoped_lock lock(mutex_);
  const auto found = watched_.find(socket);
  return found == watched_.end() ? nullptr : found->second.lock();
}

void Post::answer() {
  const auto asking = memory::accept_from(status_);
  if (!asking) return;
  std::vector<std::string> ends;
  for (const auto& endpoint : endpoints()) ends.push_back("{" + endpoint->describe() + "}");
  {
    const std::scoped_lock lock(mutex_);
    for (const auto& [end, refusal] : refused_) {
      ends.push_back(fmt::format(R"({{"topic":"{}","end":"{}","why_not":"{}"}})", refusal.topic,
                                 refusal.kind, refusal.why));
    }
  }
  const std::string text = fmt::format("[{}]", fmt::join(ends, ",\n"));
  // A text of any length, which nobody waits for.
  auto memory = memory::OwnMemory::make(text.size());
  if (!memory) return;
  std::memcpy(memory->bytes().data(), text.data(), text.size());
  static_cast<void>(memory::send_packet(
      *asking, {.kind = memory::Packet::Kind::status, .value = text.size()}, memory->descriptor()));
}

void Post::run() {
  pthread_setname_np(pthread_self(), "takt-share");
  std::array<epoll_event, 16> events{};
  for (;;) {
    const int count =
        epoll_wait(poller_.get(), events.data(), static_cast<int>(events.size()), patience());
    for (int index = 0; index < count; ++index) {
      const int ready = events[static_cast<std::size_t>(index)].data.fd;
      if (ready == folder_watch_.get()) {
        drain(ready);
        look_around();
      } else if (ready == asked_.get()) {
        drain(ready);
        look_at_ = Clock::now();
      } else if (ready == status_.get()) {
        answer();
      } else if (const auto endpoint = watcher_of(ready)) {
        endpoint->hear(ready);
      }
    }
    if (Clock::now() >= look_at_) look_around();
  }
}

void Post::remove_files() {
  if (getpid() != process_) return;
  unlink(status_path_.c_str());
  for (const auto& endpoint : endpoints()) {
    if (const std::string file = endpoint->file(); !file.empty()) unlink(file.c_str());
  }
}

}  // namespace takt::share
