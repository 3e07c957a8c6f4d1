# SPDX-License-Identifier: Apache-2.0
"""Texts of the program by message ID ('report.title'), and regular expressions that match them."""
import json
import pathlib
import re

FILE = pathlib.Path(__file__).resolve().parents[2] / 'assets/messages/en.json'
TEMPLATES = {f'{group}.{name}': text for group, messages in json.loads(FILE.read_text(encoding='utf-8')).items()
             for name, text in messages.items()}
PLACEHOLDER = r'\{(\w+)(?::[^}]*)?\}'


def message(name, **arguments):
    return TEMPLATES[name].format(**arguments)


def pattern(name, **of_placeholders):
    """Returns a pattern with a group for each placeholder, which matches its pattern in `of_placeholders` or any text."""
    pieces = re.split(PLACEHOLDER, TEMPLATES[name])
    unknown = of_placeholders.keys() - set(pieces[1::2])
    if unknown:
        raise LookupError(f'{name} has no placeholder {", ".join(sorted(unknown))}')
    for place in range(0, len(pieces), 2):
        pieces[place] = re.escape(pieces[place])
    names = pieces[1::2]
    for place in range(1, len(pieces), 2):
        name = pieces[place]
        repeated = name in names[:place // 2]
        pieces[place] = f'(?P={name})' if repeated else f'(?P<{name}>{of_placeholders.get(name, ".+?")})'
    return ''.join(pieces)
