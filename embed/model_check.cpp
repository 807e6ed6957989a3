// SPDX-License-Identifier: Apache-2.0
#include <troupe/embed/internal/model_client.hpp>
#include <troupe/embed/model_check.hpp>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

namespace troupe {
namespace {

using clock = std::chrono::steady_clock;

constexpr std::uint32_t max_output_tokens = 64; // room for services that think before the word

// Waits for the end of a call.
class check_sink final : public model_sink {
 public:
  void on_chunk(model_chunk) override {}
  void on_done(model_response) override { end(std::nullopt); }
  void on_failed(model_error failed) override {
    if (failed.code == errc::model_empty)
      return end(std::nullopt);
    end(error{failed.code, std::move(failed.message)});
  }

  [[nodiscard]] std::optional<error> wait(std::chrono::milliseconds limit) {
    std::unique_lock lock{mutex_};
    if (!changed_.wait_for(lock, limit, [this] { return over_; }))
      return error{errc::timeout,
                   "There was no whole answer within " + std::to_string(limit.count()) + " ms."};
    return failure_;
  }

 private:
  void end(std::optional<error> failure) {
    std::lock_guard lock{mutex_};
    over_ = true;
    failure_ = std::move(failure);
    changed_.notify_all();
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  bool over_ = false;
  std::optional<error> failure_;
};

std::shared_ptr<const model_request> small_request(const std::string& model) {
  auto request = std::make_shared<model_request>();
  request->model = model;
  request->head = std::make_shared<const prompt_head>();
  request->contents.append(make_text(role::user, "Answer with the one word: ok"));
  request->max_output_tokens = max_output_tokens;
  return request;
}

model_check check_one(const model_spec& spec, const model_client& client, net::io_pool& pool,
                      std::chrono::milliseconds timeout) {
  model_check out{spec.id, spec.provider, spec.model.empty() ? spec.id : spec.model, {}, {}};
  auto provider = make_provider(spec, client.http, pool, client.conditions);
  if (!provider) {
    out.failure = provider.failure();
    return out;
  }
  auto sink = std::make_shared<check_sink>();
  const auto begin = clock::now();
  {
    auto call = (*provider)->start(small_request(out.model), sink);
    out.failure = sink->wait(timeout);
  }
  out.latency = std::chrono::duration_cast<std::chrono::milliseconds>(clock::now() - begin);
  return out;
}

} // namespace

result<std::vector<model_check>> check_models(const std::vector<model_spec>& models,
                                              const model_check_options& options) {
  net::io_pool pool;
  auto client = make_model_client(pool, {options.record, options.replay, options.proxy_from_environment});
  if (!client)
    return std::move(client).failure();
  std::vector<model_check> out(models.size());
  std::atomic<std::size_t> next{0};
  auto work = [&] {
    for (auto i = next.fetch_add(1); i < models.size(); i = next.fetch_add(1))
      out[i] = check_one(models[i], *client, pool, options.timeout);
  };
  std::vector<std::thread> threads;
  for (std::size_t i = 0;
       i < std::clamp<std::size_t>(options.parallel, 1, std::max<std::size_t>(1, models.size())); ++i)
    threads.emplace_back(work);
  for (auto& thread : threads)
    thread.join();
  return out;
}

} // namespace troupe
