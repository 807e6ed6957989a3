// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/json_text.hpp>
#include <troupe/runtime/recent_items.hpp>

#include <algorithm>
#include <iterator>
#include <utility>

namespace troupe {
namespace {

activity_status status_of(const tool_result_body& result) {
  if (!result.is_error)
    return activity_status::completed;
  return result.code == errc::cancelled || result.code == errc::denied ? activity_status::cancelled
                                                                       : activity_status::error;
}

activity_status status_of(const outcome& result) {
  return result.completed() ? activity_status::completed
         : result.failed()  ? activity_status::error
                            : activity_status::cancelled;
}

activity_item note(const event& e, std::string_view lead, std::string_view text, activity_status status) {
  activity_item item;
  item.id = e.id();
  item.content = lead;
  item.content += utf8_prefix(text, recent_items::content_bytes);
  item.status = status;
  item.at = item.ended_at = e.time;
  return item;
}

} // namespace

void recent_items::add(const event& e) {
  if (const auto* call = e.as<tool_call_body>()) {
    activity_item item;
    item.id = call->call.str();
    item.type = activity_type::tool_call;
    item.content = call->name;
    item.args = utf8_prefix(call->arguments, args_bytes);
    item.at = e.time;
    items_.push_back(std::move(item));
  } else if (const auto* result = e.as<tool_result_body>()) {
    if (!end(result->call.str(), status_of(*result), e.time))
      ends_.push_back({result->call.str(), status_of(*result), e.time});
    return;
  } else if (const auto* thought = e.as<thought_body>()) {
    items_.push_back(note(e, "", thought->text, activity_status::completed));
  } else if (const auto* warning = e.as<warning_body>()) {
    items_.push_back(note(e, "Warning: ", warning->message, activity_status::error));
  } else if (const auto* failure = e.as<error_body>()) {
    items_.push_back(note(e, "Error: ", failure->message, activity_status::error));
  } else if (const auto* ended = e.as<agent_ended_body>()) {
    end_all(status_of(ended->outcome), e.time);
    all_ended_ = loose_end{{}, status_of(ended->outcome), e.time};
    return;
  }
  trim();
}

void recent_items::merge(recent_items&& later) {
  for (auto& ended : later.ends_)
    if (!end(ended.id, ended.status, ended.at))
      ends_.push_back(std::move(ended));
  if (later.all_ended_) {
    end_all(later.all_ended_->status, later.all_ended_->at);
    all_ended_ = later.all_ended_;
  }
  if (items_.empty())
    items_ = std::move(later.items_);
  else
    items_.insert(items_.end(), std::make_move_iterator(later.items_.begin()),
                  std::make_move_iterator(later.items_.end()));
  trim();
}

bool recent_items::end(const std::string& id, activity_status how, timestamp at) {
  auto found = std::find_if(items_.rbegin(), items_.rend(), [&id](const activity_item& item) {
    return item.status == activity_status::running && item.id == id;
  });
  if (found == items_.rend())
    return false;
  found->status = how;
  found->ended_at = at;
  trim();
  return true;
}

void recent_items::end_all(activity_status how, timestamp at) {
  for (auto& item : items_)
    if (item.status == activity_status::running) {
      item.status = how;
      item.ended_at = at;
    }
  trim();
}

void recent_items::trim() {
  if (items_.size() <= keep_ended)
    return;
  auto has_ended = [](const activity_item& item) { return item.status != activity_status::running; };
  auto ended = static_cast<std::size_t>(std::count_if(items_.begin(), items_.end(), has_ended));
  if (ended <= keep_ended)
    return;
  auto too_many = ended - keep_ended;
  std::erase_if(items_,
                [&](const activity_item& item) { return has_ended(item) && too_many > 0 && too_many-- > 0; });
}

} // namespace troupe
