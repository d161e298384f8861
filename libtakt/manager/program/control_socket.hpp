#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "takt/base/error.hpp"

namespace takt::manager {

/// Answers requests of this user, one line each, on a Unix socket that nobody else may use. Each
/// connection has one request and one answer; a client that is slow, or says too much, is dropped.
class ControlSocket {
 public:
  /// The answer to a request.
  using Answer = std::function<std::string(std::string_view request)>;

  /// Errors: another manager listens there, or the directory is not this user's.
  [[nodiscard]] static Result<std::unique_ptr<ControlSocket>> listen(std::string path,
                                                                     Answer answer);
  ControlSocket(const ControlSocket&) = delete;
  ControlSocket& operator=(const ControlSocket&) = delete;
  ~ControlSocket();

  /// Readable when there is a client to serve.
  [[nodiscard]] int descriptor() const { return listener_; }
  /// Serves one client that waits. Waits for it for at most a fifth of a second in all.
  void serve();

 private:
  ControlSocket(std::string path, Answer answer, int listener)
      : path_(std::move(path)), answer_(std::move(answer)), listener_(listener) {}

  std::string path_;
  Answer answer_;
  int listener_;
};

}  // namespace takt::manager
