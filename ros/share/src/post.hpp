#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "takt/base/descriptor.hpp"

namespace takt::share {

/// A publisher or a subscription whose topic is shared.
class Endpoint {
 public:
  Endpoint() = default;
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;
  virtual ~Endpoint() = default;

  /// Something can be read from a socket that is watched for it, perhaps.
  virtual void hear(int socket) = 0;
  /// Publishers may have come or gone. False: it is to be called again soon.
  virtual bool look() { return true; }
  /// Fields of a JSON object.
  virtual std::string describe() = 0;
  /// The file that is to be removed when the process ends; empty: none.
  [[nodiscard]] virtual std::string file() const { return {}; }
};

/// The one thread of this library in a process. It hears who joins and who leaves, and wakes
/// executors when messages come. It never ends and is never destroyed, as other threads run until
/// the process has ended.
class Post {
 public:
  void add(const std::shared_ptr<Endpoint>& endpoint);
  void remove(const Endpoint& endpoint);
  /// Calls the endpoint whenever the socket can be read.
  void watch(int socket, const std::shared_ptr<Endpoint>& endpoint);
  /// To be called before the socket is closed.
  void unwatch(int socket);

  /// Has all endpoints look for publishers, soon.
  void look_soon();

  /// An end that is not shared, and why; until it is forgotten.
  void refused(const void* end, std::string topic, std::string kind, std::string why);
  void forget(const void* end);

 private:
  friend Post& post();
  Post();

  struct Refusal {
    std::string topic;
    std::string kind;
    std::string why;
  };

  using Clock = std::chrono::steady_clock;
  static constexpr Clock::time_point never = Clock::time_point::max();

  void run();
  void look_around();
  /// Milliseconds until it looks around; -1: it does not.
  [[nodiscard]] int patience() const;
  std::shared_ptr<Endpoint> watcher_of(int socket);
  void answer();
  void remove_files();
  std::vector<std::shared_ptr<Endpoint>> endpoints();

  std::mutex mutex_;
  std::map<const Endpoint*, std::weak_ptr<Endpoint>> endpoints_;
  std::unordered_map<int, std::weak_ptr<Endpoint>> watched_;
  std::map<const void*, Refusal> refused_;
  Descriptor poller_;
  Descriptor folder_watch_;
  Descriptor status_;
  Descriptor asked_;  // becomes readable by look_soon
  std::string status_path_;
  Clock::time_point look_at_ = never;  // again, where somebody could not be reached
  int process_;
};

/// Starts the thread at the first call.
Post& post();

/// Whether this process is a fork of the one whose thread it was: it shares nothing.
bool is_forked();

}  // namespace takt::share
