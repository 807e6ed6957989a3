// SPDX-License-Identifier: Apache-2.0
#include <troupe/messages/free_memory.hpp>
#include <troupe/runtime/json_text.hpp>
#include <troupe/runtime/recent_items.hpp>

#include <algorithm>
#include <utility>

namespace troupe {
namespace {

constexpr std::size_t short_list = 16; // that is searched from end to end

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
    begin(call->call, call->name, call->arguments, e.time);
  } else if (const auto* result = e.as<tool_result_body>()) {
    end(result->call.str(), {status_of(*result), e.time});
  } else if (const auto* thought = e.as<thought_body>()) {
    keep({note(e, "", thought->text, activity_status::completed), next_++});
  } else if (const auto* warning = e.as<warning_body>()) {
    keep({note(e, "Warning: ", warning->message, activity_status::error), next_++});
  } else if (const auto* failure = e.as<error_body>()) {
    keep({note(e, "Error: ", failure->message, activity_status::error), next_++});
  } else if (const auto* ended = e.as<agent_ended_body>()) {
    all_ended_ = ending{status_of(ended->outcome), e.time};
    end_all(*all_ended_);
  }
}

void recent_items::begin(const call_id& call, const std::string& name, std::string_view arguments,
                         timestamp at) {
  activity_item item;
  item.id = call.str();
  item.type = activity_type::tool_call;
  item.content = name;
  item.args = utf8_prefix(arguments, args_bytes);
  item.at = at;
  begin(std::move(item));
}

void recent_items::merge(recent_items&& later) {
  for (const auto& ended : later.ends_)
    if (find(ended.id) < running_.size())
      end(ended.id, ended.how);
  if (later.all_ended_) {
    all_ended_ = later.all_ended_;
    end_all(*all_ended_);
  }
  const auto base = next_;
  for (std::size_t i = 0; i < later.ended_.size(); ++i) {
    auto& ended = later.ended_[(later.oldest_ + i) % later.ended_.size()];
    ended.order += base;
    keep(std::move(ended));
  }
  for (auto& runs : later.running_) {
    begin(std::move(runs.item));
    running_.back().order = base + runs.order;
  }
  next_ = base + later.next_;
}

std::vector<activity_item> recent_items::items() const {
  std::vector<const entry*> all;
  for (const auto& ended : ended_)
    all.push_back(&ended);
  for (const auto& runs : running_)
    all.push_back(&runs);
  std::sort(all.begin(), all.end(), [](const entry* a, const entry* b) { return a->order < b->order; });
  std::vector<activity_item> shown;
  shown.reserve(all.size());
  for (const auto* e : all)
    shown.push_back(e->item);
  return shown;
}

const activity_item* recent_items::oldest_running() const noexcept {
  auto oldest = std::min_element(running_.begin(), running_.end(),
                                 [](const entry& a, const entry& b) { return a.order < b.order; });
  return oldest == running_.end() ? nullptr : &oldest->item;
}

void recent_items::begin(activity_item item) {
  running_.push_back({std::move(item), next_++});
  if (running_.size() == short_list + 1) {
    index_ = std::make_unique<index>();
    for (std::size_t i = 0; i < running_.size(); ++i)
      index_->insert_or_assign(running_[i].item.id, i);
  } else if (index_) {
    index_->insert_or_assign(running_.back().item.id, running_.size() - 1);
  }
}

void recent_items::keep(entry ended) {
  if (ended_.size() < keep_ended)
    return ended_.push_back(std::move(ended));
  ended_[oldest_] = std::move(ended);
  oldest_ = (oldest_ + 1) % keep_ended;
}

std::size_t recent_items::find(const std::string& id) const {
  if (index_) {
    auto found = index_->find(id);
    return found == index_->end() ? running_.size() : found->second;
  }
  auto found =
      std::find_if(running_.begin(), running_.end(), [&id](const entry& e) { return e.item.id == id; });
  return static_cast<std::size_t>(found - running_.begin());
}

recent_items::entry recent_items::take(std::size_t position) {
  if (index_)
    index_->erase(running_[position].item.id);
  auto taken = std::move(running_[position]);
  if (position + 1 < running_.size()) {
    running_[position] = std::move(running_.back());
    if (index_)
      index_->insert_or_assign(running_[position].item.id, position);
  }
  running_.pop_back();
  if (index_ && running_.size() <= short_list) {
    index_.reset();
    running_.shrink_to_fit(); // of thousands, perhaps, and it may stay short for long
  }
  return taken;
}

void recent_items::end(const std::string& id, const ending& how) {
  const auto position = find(id);
  if (position == running_.size())
    return ends_.push_back({id, how});
  auto taken = take(position);
  taken.item.status = how.status;
  taken.item.ended_at = how.at;
  keep(std::move(taken));
}

void recent_items::end_all(const ending& how) {
  std::sort(running_.begin(), running_.end(),
            [](const entry& a, const entry& b) { return a.order < b.order; });
  for (auto& runs : running_) {
    runs.item.status = how.status;
    runs.item.ended_at = how.at;
    keep(std::move(runs));
  }
  free_memory(running_);
  index_.reset();
}

} // namespace troupe
