// The options of a model's declaration, given to its provider.
//
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/messages/result.hpp>
#include <troupe/net/providers/anthropic.hpp>
#include <troupe/net/providers/gemini.hpp>
#include <troupe/net/providers/openai.hpp>
#include <troupe/net/providers/openai_responses.hpp>
#include <troupe/runtime/definition.hpp>

namespace troupe {

// Each sets what the declaration's `options` name. The error says which option is unknown or what its value should be;
// its message does not name the model.
[[nodiscard]] status read_options(const model_spec& spec, net::openai_options& out);
[[nodiscard]] status read_options(const model_spec& spec, net::openai_responses_options& out);
[[nodiscard]] status read_options(const model_spec& spec, net::gemini_options& out);
[[nodiscard]] status read_options(const model_spec& spec, net::anthropic_options& out);

} // namespace troupe
