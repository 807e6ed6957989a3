// One call of a remote agent: from what is new in the conversation to the answer.
//
//   card → credentials → message → stream or answer → (stream taken up again | task asked for) → end
//
// One thing is under way at a time, so its steps need no lock; what cancel() touches, from another thread, has one.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/net/a2a/internal/conversation.hpp>
#include <troupe/net/a2a/internal/reassembly.hpp>
#include <troupe/net/a2a/internal/remote_peer.hpp>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <variant>

namespace troupe::net::a2a {

class call_exchange final : public reply_taker, public std::enable_shared_from_this<call_exchange> {
 public:
  call_exchange(std::shared_ptr<remote_peer> peer, std::shared_ptr<const model_request> request,
                std::shared_ptr<model_sink> sink);

  void start();
  // Closes what is under way, and asks the peer to cancel the task. Thread-safe.
  void cancel();

  bool on_event(std::string_view data) override;
  void on_reply(reply_end end) override;

 private:
  void begin();
  [[nodiscard]] std::optional<model_error> refuse() const;
  void take_route(const std::variant<route_ptr, model_error>& found);
  // Finds the credentials, then goes on with `next`.
  void authorize(bool fresh, void (call_exchange::*next)());
  void send_message();
  void ask_task();
  void run(operation what);
  void leave_unanswered();
  void give_up_refused();
  void drop_task();

  [[nodiscard]] bool take_reply(std::string_view text);
  void take_item(const stream_item& item);
  [[nodiscard]] bool decides(const stream_item& item) const;
  void fail_reply(fault f);
  [[nodiscard]] bool sign_in_again(const reply_end& end);
  void settle();
  void recover(bool failed);
  void wait_and_ask();

  void conclude();
  void complete();
  void ask_user();
  void fail(model_error failed);
  void deliver(std::variant<model_response, model_error> answer);
  void note_task();
  [[nodiscard]] bool is_cancelled();
  [[nodiscard]] bool is_over() const noexcept { return over_.load(std::memory_order_acquire); }
  [[nodiscard]] conversation_ids ids_now() const;

  const std::shared_ptr<remote_peer> peer_;
  const std::shared_ptr<const model_request> request_;
  std::shared_ptr<model_sink> sink_;
  const conversation said_;
  a2a::message message_;
  std::optional<model_error> refused_; // nothing is sent, but that the open task is cancelled
  std::string context_;                // that was taken to go on with
  route_ptr route_;
  header_list credentials_;
  reassembly answer_;

  operation running_ = operation::send;
  std::string request_id_;
  std::uint32_t requests_ = 0;      // numbers the ids of JSON-RPC
  std::uint32_t sign_ins_ = 0;      // with fresh credentials
  std::uint32_t subscriptions_ = 0; // to take up a stream
  std::uint32_t failures_ = 0;      // in a row, of asking for the task
  bool can_subscribe_ = true;
  bool accepted_ = false;  // the peer has taken the message
  bool first_item_ = true; // of the operation
  bool keeps_context_ = true;
  std::thread::id starter_; // on which nobody is called back
  std::chrono::milliseconds pause_{};
  std::atomic<bool> over_{false};

  std::mutex mutex_; // guards what follows
  bool cancelled_ = false;
  http_call http_;
  std::unique_ptr<timer_handle> timer_;
  std::string open_context_; // to give back
  std::string open_task_;    // to cancel; empty: none
  route_ptr open_route_;
  header_list open_credentials_;
};

} // namespace troupe::net::a2a
