// A model sink that keeps what it was told.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/ports/model_provider.hpp>

#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace troupe::test {

struct recording_sink final : model_sink {
  void on_chunk(model_chunk chunk) override { chunks.push_back(std::move(chunk)); }
  void on_done(model_response r) override { response = std::move(r); }
  void on_failed(model_error e) override { failure = std::move(e); }

  [[nodiscard]] bool ended() const { return response || failure; }
  [[nodiscard]] std::string text() const {
    std::string out;
    if (response)
      for (const auto& part : response->parts)
        if (const auto* text = std::get_if<text_part>(&part.value))
          out += text->text;
    return out;
  }

  std::vector<model_chunk> chunks;
  std::optional<model_response> response;
  std::optional<model_error> failure;
};

} // namespace troupe::test
