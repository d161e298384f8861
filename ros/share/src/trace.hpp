#pragma once

#include <rmw/rmw.h>

#include <cstdint>

/// The events that tell of messages in a recording. Those of the middleware go through this
/// library, which stands before the tracing library: so a message has one source time stamp,
/// whichever way it takes, and only what a program takes is told of.
namespace takt::share {

/// Hears the source time stamp of the message that this thread publishes by the middleware, while
/// there is such an object: when the event of the publication has been written, and before the
/// middleware sends the message.
class StampListener {
 public:
  explicit StampListener(const rmw_publisher_t* publisher);
  StampListener(const StampListener&) = delete;
  StampListener& operator=(const StampListener&) = delete;

  virtual void on_stamp(std::int64_t stamp) = 0;
  [[nodiscard]] const rmw_publisher_t* publisher() const { return publisher_; }

 protected:
  ~StampListener();

 private:
  const rmw_publisher_t* publisher_;
  StampListener* outer_;
};

/// Whether the middleware tells of source time stamps. It does so first when it publishes that a
/// node is there.
bool stamps_are_told();

/// While there is such an object, the middleware's takes on this thread are none of the program's.
class QuietTakes {
 public:
  QuietTakes();
  ~QuietTakes();
  QuietTakes(const QuietTakes&) = delete;
  QuietTakes& operator=(const QuietTakes&) = delete;
};

/// A message is published that the middleware does not get. To be called before anybody can take
/// it.
void trace_publish(const rmw_publisher_t* publisher, const void* message, std::int64_t stamp);

/// The program takes a message. `is_by_memory`: it came through shared memory.
void trace_take(const rmw_subscription_t* subscription, const void* message, std::int64_t stamp,
                bool is_by_memory);

}  // namespace takt::share
