#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "takt/linux/thread_identity.hpp"
#include "takt/threads/row.hpp"

namespace takt::threads {

/// A callback that a thread runs.
struct SeenCallback {
  std::string node;
  /// What a row may call its group by.
  std::vector<std::string> names;
};

/// A thread of a running program.
struct SeenThread {
  enum class Kind : std::uint8_t {
    executor,    ///< runs callbacks
    source,      ///< does a node's work, and no executor serves it
    middleware,  ///< of the middleware in the process of its nodes
  };
  linux_os::ThreadIdentity identity;
  Kind kind = Kind::executor;
  /// Ascending.
  std::vector<std::string> nodes{};
  /// Those of which nothing has run anywhere, so that they may be on no executor at all. Ascending.
  std::vector<std::string> supposed{};
  std::vector<SeenCallback> callbacks{};
  /// Counts the threads of its executor.
  std::size_t of_executor = 1;
};

/// A row that is to be applied to a thread.
struct Fit {
  std::size_t row = 0;
  std::size_t thread = 0;
  friend bool operator==(const Fit&, const Fit&) = default;
};

/// Why a row is not applied to a thread that it is about: which row, and what to do.
struct Problem {
  std::size_t row = 0;
  std::string reason;
  /// The problem of another row says the same.
  bool is_repeated = false;
  friend bool operator==(const Problem&, const Problem&) = default;
};

struct Assignment {
  /// By thread, then by row.
  std::vector<Fit> fits;
  std::vector<Problem> problems;
};

/// Which rows are about which threads. Rows that want different things of one thread are problems,
/// and so is a group whose thread runs something else, too; nothing is wanted of such a thread. A
/// supposed node is no problem: what is known counts before what is supposed.
/// O(rows · threads · callbacks of a thread).
[[nodiscard]] Assignment assign(const std::vector<Row>& rows,
                                const std::vector<SeenThread>& threads);

}  // namespace takt::threads
