// What a client that follows a task is sent: the task as it is, then each change, until it ends or waits for the client.
//
// Nothing queues for a reader that is slow: it takes the task's own list of changes when it has taken the last message, or
// the whole task when it has missed some. Closing a stream does not touch the task.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/net/server/internal/a2a_request.hpp>
#include <troupe/net/server/internal/a2a_tasks.hpp>
#include <troupe/net/server/internal/io_gate.hpp>
#include <troupe/net/server/internal/web_site.hpp>

#include <cstddef>
#include <deque>
#include <memory>

namespace troupe::net {

class a2a_stream final : public stream_feed, public std::enable_shared_from_this<a2a_stream> {
 public:
  // Begins with `first`, the task as it was when `from` updates of it had come. `sent` tells that it answers a message: then
  // a question that is open when it begins ends it as well.
  a2a_stream(std::shared_ptr<a2a_task> task, a2a_form form, std::shared_ptr<io_gate> gate, a2a::task first,
             std::size_t from, bool sent)
      : task_(std::move(task)), form_(std::move(form)), gate_(std::move(gate)), sent_(sent), from_(from) {
    waiting_.emplace_back(std::move(first));
  }

  void start(stream_sink& sink) override;
  void written() override;
  void receive(std::string_view) override {}
  void stop() override { sink_ = nullptr; }

 private:
  void say_next();
  [[nodiscard]] bool ends(const a2a::stream_item& item) const;

  const std::shared_ptr<a2a_task> task_;
  const a2a_form form_;
  const std::shared_ptr<io_gate> gate_;
  const bool sent_;
  std::size_t from_;
  stream_sink* sink_ = nullptr; // null before the start and after the end
  std::deque<a2a::stream_item> waiting_;
  bool idle_ = false;
  bool ended_ = false;
};

} // namespace troupe::net
