"""Wires: one module per protocol, each with a model class of two arguments, endpoint and profile.

| wire | module and class |
|---|---|
| `anthropic_messages` | `anthropic_messages.AnthropicMessagesModel` |
| `openai_chat` | `openai_chat.OpenAIChatModel` |
| `openai_responses` | `openai_responses.OpenAIResponsesModel` |

A wire is three files: `*_body` encodes requests, `*_stream` decodes answers without any network,
and the third joins them as an `http.HttpModel`. A new one also needs its line in
`truepenny.model.catalog.WIRES`, its frames and rules in `tests/peers`, and is then run through
every test of `tests/model/test_wire_*.py`.

Nothing is imported here: a wire costs nothing until a model on it is asked for.
"""
