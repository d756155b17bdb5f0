"""Texts that the tokenizer of a language model takes for control tokens, such as the end of a message.

Text of others that contains one could end its message and begin another in the name of the system. Models differ and
new ones come, so whole forms are covered rather than a list: ``<|…`` with either kind of bar, ``<word>``, ``[WORD]``.
"""

import re

_CONTROL = re.compile(
    r"""
    <(?=[|\uff5c\uffe8]              # <|im_start|>, and DeepSeek's with full-width bars
       |/?[A-Za-z_][\w:.\-\u2581]*>  # <s>, </think>, <start_of_turn>, <tool_call>, <unused7>, <seed:eos>
       |(?i:function|tool|parameter)=) # <function=name>
    |\[(?=/?[A-Z][A-Z_]+\]           # [INST], [/TOOL_RESULTS], [SYSTEM_PROMPT]
       |(?i:/?(?:inst|system_prompt|available_tools|gmask|mask|sep|cls)\])
       |e~\[)                        # MiniMax: [e~[
    |\](?=<\]|~!?b[\[\]])            # MiniMax: ]<]start[>[ and ]~b]
    """,
    re.VERBOSE,
)


def defused(text: str) -> str:
    """The text with a space in everything that could be a control token, so that it is none."""
    return _CONTROL.sub(lambda found: found[0] + " ", text)
