// A model call that is answered through the timer: pieces at their times, then the end.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/ports/model_provider.hpp>
#include <troupe/runtime/ports/timer.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <variant>
#include <vector>

namespace troupe::internal {

using model_answer = std::variant<model_response, model_error>;

// Calls the sink with the chunks, spread over `latency`, and then with the answer. Destroying the call stops
// it.
[[nodiscard]] std::unique_ptr<model_call> answer_later(timer& clock, std::shared_ptr<model_sink> sink,
                                                       std::chrono::milliseconds latency,
                                                       std::vector<model_chunk> chunks, model_answer answer);

// Hands an answer to a sink.
void deliver(model_sink& sink, model_answer answer);

} // namespace troupe::internal
