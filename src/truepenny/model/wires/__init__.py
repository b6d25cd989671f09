"""Wires: one module per protocol, each with a model class of two arguments, endpoint and profile.

| wire | module and class |
|---|---|
| `anthropic_messages` | `anthropic_messages.AnthropicMessagesModel` |
| `openai_chat` | `openai_chat.OpenAIChatModel` |
| `openai_responses` | `openai_responses.OpenAIResponsesModel` |

Nothing is imported here: a wire costs nothing until a model on it is asked for.
"""
