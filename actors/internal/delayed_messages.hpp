// Messages that are due later.
//
// CAF wakes its clock's thread for each message that is scheduled, and keeps what an actor sends to itself, and with it the
// actor, until it is due: for hours after the end of a session that had a deadline. Here the thread wakes only for a
// message that comes before all others, and those to an actor go with it.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <caf/all.hpp>

#include <condition_variable>
#include <map>
#include <mutex>
#include <thread>
#include <unordered_map>

namespace troupe::actors {

// Thread-safe, but for start and stop.
class delayed_messages {
 public:
  using time_point = caf::actor_clock::time_point;

  ~delayed_messages() { stop(); }

  void start();
  // Drops what waits; so does add() from now on.
  void stop();

  void add(time_point at, const caf::strong_actor_ptr& receiver, caf::mailbox_element_ptr content);
  void drop_for(caf::actor_id receiver);
  void drop_all();

 private:
  struct message {
    caf::weak_actor_ptr receiver;
    caf::mailbox_element_ptr content;
  };
  using schedule = std::multimap<time_point, message>;

  void run();
  [[nodiscard]] schedule::node_type take(schedule::iterator at);

  // Never held while a message is destroyed: its last reference may end an actor, which comes back to drop_for.
  std::mutex mutex_;
  std::condition_variable changed_;
  schedule messages_; // as many as actors have asked for: one a supervisor, those that a gateway has let wait
  std::unordered_multimap<caf::actor_id, schedule::iterator> by_receiver_;
  bool stopped_ = true;
  std::thread thread_;
};

} // namespace troupe::actors
