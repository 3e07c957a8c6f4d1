# SPDX-License-Identifier: Apache-2.0
"""Text of values, and the number of visible query-key pairs of a mask."""


def _scaled(value, units, step):
    for unit in units[:-1]:
        if float("%.3g" % value) < step:
            return value, unit
        value /= step
    return value, units[-1]


def _three_digits(value):
    return "%.0f" % value if value >= 99.95 else "%.1f" % value if value >= 9.995 else "%.2f" % value


def time_text(ns):
    if not ns:
        return "-"
    value, unit = _scaled(ns, ("ns", "µs", "ms", "s"), 1000)
    return "%s %s" % (_three_digits(value), unit)


def bytes_text(count):
    if count is None:
        return "-"
    value, unit = _scaled(count, ("B", "kB", "MB", "GB", "TB"), 1000)
    return "%s %s" % ("%d" % value if unit == "B" else _three_digits(value), unit)


def change_text(ratio):
    return "-" if ratio is None else "%+.2f%%" % ((ratio - 1) * 100 + 0.0)


def spread_text(row):
    """Half the interquartile range as a share of the median."""
    if row["time_q1_ns"] is None or not row["time_median_ns"]:
        return "-"
    return "%.1f%%" % (50 * (row["time_q3_ns"] - row["time_q1_ns"]) / row["time_median_ns"])


def printable(text):
    """Replaces control characters, which a file from elsewhere may contain."""
    return "".join(each if each.isprintable() else "?" for each in text)


def aligned(columns, cells):
    """A text table. Columns of numbers are right-aligned, the last column is never cut."""
    widths = [max(len(row[i]) for row in [columns] + cells) for i in range(len(columns))]
    right = [all(row[i][:1] in "-+0123456789" for row in cells) for i in range(len(columns))]

    def line(row):
        return "  ".join(cell.rjust(width) if to_right else cell.ljust(width)
                         for cell, width, to_right in zip(row, widths, right)).rstrip()

    return "\n".join([line(columns), "  ".join("-" * width for width in widths)] + [line(row) for row in cells])


def visible_pairs(mask, n_q, n_k):
    """Returns the number of visible query-key pairs of one head; None for masks that depend on data."""
    if mask == "full":
        return n_q * n_k
    left, right = None, 0
    if mask.startswith("window:") and "+" not in mask:
        left, right = (None if word == "inf" else int(word) for word in mask.split(":")[1:])
    elif mask != "causal":
        return None

    def keys_before(shift):
        """Sum over all queries of the number of keys before key (query + shift)."""
        def total(end):  # over the first `end` positions
            end = max(end, 0)
            inside = min(end, n_k)
            return inside * (inside - 1) // 2 + (end - inside) * n_k
        return total(n_q + shift) - total(shift)

    diagonal = n_k - n_q
    end = n_q * n_k if right is None else keys_before(diagonal + right + 1)
    return end - (0 if left is None else keys_before(diagonal - left))
