"""Tool calls that a model writes as text: `parse` understands them, `prompt` teaches the form,
`model` puts both around any model whose profile says `text_tool_calls`.
"""
