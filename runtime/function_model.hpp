// A C++ function as a model: for tests, examples and rules of one's own.
//
// The function gets each request and gives the whole answer; what it throws becomes a failed call
// (model_bad_response). It may be called on several threads at once when the provider answers through a
// timer, and on one thread of its own otherwise. Text is streamed as one piece when chunks are wanted.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/runtime/ports/model_provider.hpp>
#include <troupe/runtime/ports/timer.hpp>

#include <chrono>
#include <functional>
#include <memory>
#include <string>

namespace troupe {

using model_function = std::function<model_response(const model_request&)>;

// Calls the function on a thread that the provider owns, one request after another. Destroying the provider
// ends the thread; calls that wait are dropped.
[[nodiscard]] std::shared_ptr<model_provider> function_model(model_function fn);

// Calls the function when the call starts and answers `delay` later through `clock`, which outlives the
// provider.
[[nodiscard]] std::shared_ptr<model_provider> function_model(model_function fn, timer& clock,
                                                             std::chrono::milliseconds delay = {});

// Responses of one kind, for short functions.
[[nodiscard]] model_response text_response(std::string text);
[[nodiscard]] model_response call_response(std::string tool, const nlohmann::json& arguments);

} // namespace troupe
