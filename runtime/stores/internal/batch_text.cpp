// SPDX-License-Identifier: Apache-2.0
#include <troupe/runtime/stores/internal/batch_text.hpp>

#include <memory>
#include <utility>

namespace troupe::internal {
namespace {

bool same(const event_origin& a, const event_origin& b) {
  return a.session == b.session && a.run == b.run && a.agent == b.agent && a.author == b.author &&
         a.branch == b.branch && a.parent_call == b.parent_call;
}

void share_origins(event_batch& batch) {
  for (std::size_t i = 1; i < batch.size(); ++i)
    if (same(*batch[i].origin, *batch[i - 1].origin))
      batch[i].origin = batch[i - 1].origin;
}

} // namespace

void write_batch_text(const event_batch& batch, std::string& text) {
  text = '[';
  for (const auto& e : batch) {
    if (text.size() > 1)
      text += ',';
    append_json(text, e);
  }
  text += ']';
}

result<event_batch_ptr> read_batch_text(std::string_view text) {
  auto parsed = parse_json(text, stored_json_limits);
  if (!parsed)
    return parsed.failure();
  try {
    auto batch = parsed->get<event_batch>();
    share_origins(batch);
    return event_batch_ptr{std::make_shared<const event_batch>(std::move(batch))};
  } catch (const nlohmann::json::exception& e) {
    return error{errc::bad_json, e.what()};
  }
}

} // namespace troupe::internal
