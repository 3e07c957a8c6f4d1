# SPDX-License-Identifier: Apache-2.0
"""Follows every link of an HTML report to the row of the appendix that it names, and compares the numbers."""
import html
import re

from message_texts import message

UNITS = {'B': 1, 'KB': 1e3, 'MB': 1e6, 'GB': 1e9, 'TB': 1e12, 'ns': 1, 'µs': 1e3, 'ms': 1e6, 's': 1e9}
TIME, DRAM, OVER = message('report.column_time'), message('report.column_dram'), message('report.column_over')
POINT, RUN = message('report.column_point'), message('report.column_run')


def plain(markup):
    return html.unescape(re.sub('<[^>]+>', '', markup))


def close(printed, value):
    """Whether a printed number is the rounded value."""
    mantissa, _, power = printed.replace(',', '').partition('e')
    digits = len(mantissa.partition('.')[2]) - int(power or 0)
    # Trailing zeros of an integer may be rounded: "1240" has at least three digits.
    unit = 10.0 ** -digits if digits > 0 else 10.0 ** max(0, len(mantissa.lstrip('-')) - 3)
    return abs(float(printed.replace(',', '')) - value) <= 0.501 * unit


class Page:
    def __init__(self, text):
        self.rows = {}
        tables = re.search(r'<table id="points"[^>]*>(.*?)</table>', text, re.S)
        titles = [plain(title) for title in re.findall(r'<th scope="col"[^>]*>(.*?)</th>', tables[1], re.S)]
        for number, cells in re.findall(r'<tr id="row-(\d+)">(.*?)</tr>', tables[1], re.S):
            found = re.findall(r'<td[^>]*?(?: data-v="([^"]*)")?>(.*?)</td>', cells, re.S)
            self.rows[number] = {title: (plain(words), float(value) if value else None)
                                 for title, (value, words) in zip(titles, found)}
        self.links = []  # whether it is about the points of the first page, its text, row
        overview = re.search(r'<table id="overview".*?</table>', text, re.S)
        heading = ''
        for found in re.finditer(r'<(h2|p|td)\b([^>]*)>(.*?)</(?:h2|p|td)>', text, re.S):
            tag, attributes, words = found.groups()
            if tag == 'h2':
                heading = plain(words)
            in_table = overview is not None and overview.start() < found.start() < overview.end()
            topic = in_table or 'answer' in attributes or (tag == 'p' and heading == message('report.roofline'))
            for link in re.finditer(r'<a href="#row-(\d+)">(.*?)</a>', words):
                self.links.append((topic, plain(link[2]), link[1]))

    def same(self, text, row):
        """Whether the row has the number of a link."""
        if text == row[POINT][0]:
            return True
        found = re.fullmatch(r'(-?[\d.,]+(?:e-?\d+)?)\s?(%|[^\s\d]*)(?: .*)?', text)
        if not found:
            return False
        number, unit = found.groups()
        if unit == '':
            return row['N'][1] == float(number.replace(',', ''))
        title, scale, offset = (OVER, 0.01, 1) if unit == '%' else (DRAM if 'B' in unit else TIME, UNITS[unit], 0)
        value = row[title][1]
        return value is not None and close(number, (value - offset) / scale)

    def check(self):
        """Returns the links that lead to another number."""
        wrong = [f'link "{text}" leads to row {row}: {self.rows[row]}' for _, text, row in self.links
                 if not self.same(text, self.rows[row])]
        # Times, bytes and bottlenecks of one run, algorithm, problem and N are those of one row.
        rows = {}
        for topic, text, row in self.links:
            if not topic:
                continue
            point = self.rows[row][POINT][0]
            rows.setdefault((self.rows[row][RUN][0], re.sub(' tile .*', '', point)), {})[row] = text
        wrong += [f'"{key[1]}" is taken from rows {", ".join(found)}' for key, found in rows.items() if len(found) > 1]
        return wrong
