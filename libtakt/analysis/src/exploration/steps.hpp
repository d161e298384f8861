#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "effort.hpp"
#include "exploration/problem.hpp"
#include "exploration/state.hpp"

namespace takt::analysis {

/// The longest times that the steps so far have shown; 0 if none.
struct Longest {
  /// From activation to completion, by callback.
  std::vector<Time> responses;
  /// Along each track.
  std::vector<Time> tracks;
};

/// Finds what may happen next in a state in which the executor's thread is free: an instance is
/// chosen and runs, or the thread waits for something to come.
class Steps {
 public:
  /// Thrown when more instances wait than on any executor that keeps up with its load.
  struct TooManyWait {};
  /// Thrown when what may happen within one step would take more memory than is sensible.
  struct TooManyDrafts {};

  Steps(const Problem& problem, Effort& effort);

  /// Calls `reached` for every state that may be next.
  void take(State state, const std::function<void(State)>& reached);

  [[nodiscard]] const Longest& longest() const { return longest_; }

 private:
  /// Something that comes during a step.
  struct Arrival {
    Token token;
    std::size_t to = 0;
    const Source* source = nullptr;
  };
  /// A state on its way to the next.
  struct Draft {
    State state;
    std::vector<Arrival> arrivals{};
    /// Messages sent in this step, at the end of State::flights.
    std::size_t sent = 0;
    /// Edges whose next message has not come.
    std::vector<Via> held{};
  };
  /// All arrivals of a step come at `since` + `gap` at the earliest and now at the latest.
  struct Window {
    Zone::Column since = State::now;
    Time gap = 0;
  };

  static void add(std::vector<Draft>& drafts, Draft draft);
  [[nodiscard]] bool limit(State& state, Moment a, Moment b, Time bound);
  [[nodiscard]] bool limit_within(State& state, Zone::Column column, const Window& window);

  void choose_from_ready_set(State state);
  void run_from_ready_set(State state, std::size_t callback);
  void choose_by_key(const State& state);
  void run(State state, std::size_t callback);
  void send(std::vector<Draft>& drafts, const Token& by, std::size_t from,
            const Problem::Send& send, const Window& window);
  [[nodiscard]] std::vector<Token::Place> places_after(const Token& by, std::size_t from,
                                                       std::size_t to) const;
  void wait(const State& state);

  // Arrivals that come, or do not come, within the window.
  [[nodiscard]] bool comes(Draft& draft, const Source& source, const Window& window);
  [[nodiscard]] bool comes_on_grid(Draft& draft, const Source& source, const Window& step);
  [[nodiscard]] bool comes_within_curve(Draft& draft, const Source& source, const Window& step);
  [[nodiscard]] bool does_not_come(Draft& draft, const Source& source);
  [[nodiscard]] bool comes(Draft& draft, std::size_t flight, const Window& window);
  [[nodiscard]] bool does_not_come(Draft& draft, std::size_t flight);
  void arrive(Draft draft, const Window& window, std::size_t first);
  void arrive_from(std::vector<Draft>& drafts, const Source& source, const Window& window);
  void arrive_flights(std::vector<Draft>& drafts, const Window& window);

  // Arrivals activate callbacks, in every order in which they may have come.
  void deliver(Draft draft);
  void deliver_to(Draft draft, std::size_t callback);
  void receive(Draft draft, const Arrival& arrival);
  void activate(Draft draft, const Arrival& arrival);

  const Problem& problem_;
  Effort& effort_;
  Longest longest_;
  const std::function<void(State)>* reached_ = nullptr;
};

}  // namespace takt::analysis
