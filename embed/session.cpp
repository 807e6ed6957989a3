// SPDX-License-Identifier: Apache-2.0
#include <troupe/embed/internal/run_state.hpp>
#include <troupe/embed/internal/runtime_core.hpp>
#include <troupe/embed/internal/waiting.hpp>
#include <troupe/embed/session.hpp>

#include <utility>

namespace troupe {
namespace {

using task_list = result<std::vector<background_task>>;

task_list query(engine& to, const session_id& session, std::optional<call_id> cancel) {
  auto told = wait_for_value<task_list>(acknowledge_limit, [&](std::function<void(task_list)> done) {
    to.tasks(session, std::move(cancel), "user", std::move(done));
  });
  return told ? std::move(*told) : task_list{error{errc::timeout, "The session did not answer in time."}};
}

bool wait_for_call(std::chrono::milliseconds limit, const std::function<void(std::function<void()>)>& start) {
  return wait_for_value<bool>(limit,
                              [&start](std::function<void(bool)> done) { start([done] { done(true); }); })
      .has_value();
}

} // namespace

void session::on_run(std::function<void(run)> callback) {
  if (auto core = core_.lock())
    core->on_woken_run(
        id_, [core = core_, id = id_, callback = std::move(callback)](std::shared_ptr<run_feed> feed) {
          callback(run{std::make_shared<run_state>(core, id, std::move(feed))});
        });
}

status session::steer(std::string text, const std::string& agent) {
  auto core = core_.lock();
  if (core == nullptr)
    return runtime_is_gone();
  return wait_for_status([&](std::function<void(status)> done) {
    core->to().steer(id_, agent.empty() ? std::nullopt : std::optional{agent_id{agent}}, std::move(text),
                     "user", std::move(done));
  });
}

status session::answer(const std::string& question_id, nlohmann::json value) {
  auto core = core_.lock();
  if (core == nullptr)
    return runtime_is_gone();
  return wait_for_status([&](std::function<void(status)> done) {
    core->to().answer(id_, call_id{question_id}, std::move(value), "user", std::move(done));
  });
}

result<std::vector<background_task>> session::background() {
  auto core = core_.lock();
  if (core == nullptr)
    return runtime_is_gone();
  return query(core->to(), id_, std::nullopt);
}

status session::cancel_background(const std::string& task_id) {
  auto core = core_.lock();
  if (core == nullptr)
    return runtime_is_gone();
  auto list = query(core->to(), id_, call_id{task_id});
  return list ? ok() : status{list.failure()};
}

void session::cancel(std::string by) {
  if (auto core = core_.lock())
    core->to().cancel(id_, {}, std::move(by), true);
}

bool session::wait_quiet(std::chrono::milliseconds limit) {
  auto core = core_.lock();
  if (core == nullptr)
    return true;
  return wait_for_call(limit,
                       [&](std::function<void()> done) { core->to().when_quiet(id_, std::move(done)); });
}

bool session::suspend(std::chrono::milliseconds limit) {
  auto core = core_.lock();
  if (core == nullptr)
    return true;
  return wait_for_call(limit, [&](std::function<void()> done) { core->to().suspend(id_, std::move(done)); });
}

} // namespace troupe
