# SPDX-License-Identifier: Apache-2.0
"""Exported points of `attnscope export` and values derived from them, for recompute_report.py."""
import math

from message_texts import message


def median(values):
    return quantile(values, 0.5)


def quantile(values, fraction):
    ordered = sorted(values)
    position = fraction * (len(ordered) - 1)
    low = math.floor(position)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (position - low)


class Kernel:
    """A row of the export."""

    def __init__(self, row):
        self.row = row

    def number(self, name):
        return float(self.row[name]) if self.row.get(name) else None

    def sum_columns(self, *names):
        values = [self.number(name) for name in names]
        return None if values[0] is None else sum(value for value in values if value is not None)

    @property
    def samples(self):
        return [float(word) for word in self.row['samples_ns'].split()]

    @property
    def time(self):
        return median(self.samples) if self.samples else self.number('time_median_ns')

    def quartile(self, fraction):
        if len(self.samples) > 1:
            return quantile(self.samples, fraction)
        return None

    @property
    def dram(self):
        return self.sum_columns('dram_read_bytes', 'dram_write_bytes', 'dram_writeback_bytes')

    @property
    def l2(self):
        return self.sum_columns('l2_to_sm_bytes', 'sm_to_l2_bytes')

    @property
    def model_l2(self):
        return self.sum_columns('model_l2_to_sm_bytes', 'model_sm_to_l2_bytes')


class Point(Kernel):
    """All exported rows of a point: the point itself and its kernels."""

    def __init__(self, rows):
        whole = [row for row in rows if row['kernel'] in ('all', '')]
        super().__init__(whole[0])
        self.kernels = {row['kernel']: Kernel(row) for row in rows}
        self.algorithm = self.row['algorithm']
        for name in ('batch', 'heads_q', 'heads_kv', 'n_q', 'n_k', 'd', 'br', 'bc', 'run'):
            setattr(self, name, int(self.row[name]))

    @property
    def has_values(self):
        return self.row['disposition'] in ('ok', 'no-counters')

    @property
    def product_flops(self):
        """FLOPs of one n_q x n_k matrix product over d, for all heads."""
        return 2 * self.n_q * self.n_k * self.d * self.batch * self.heads_q

    @property
    def flops(self):
        if self.row['mask'] == 'full':
            return self.product_flops * {'fwd': 2, 'bwd': 5, 'fwd+bwd': 7}[self.row['pass']]
        # With a mask the exported FLOP count is used.
        return self.number('tflops') * 1e12 * self.time / 1e9

    @property
    def tflops(self):
        return self.flops / self.time / 1e3 if self.time else None

    def settings(self, *more):
        """Returns the settings that the points of a figure or table share, and `more`, in the order of the report."""
        heads = f'{self.batch} × {self.heads_q}' + (f' ({self.heads_kv} KV)' if self.heads_q != self.heads_kv else '')
        n = self.n_q if self.n_q == self.n_k else f'{self.n_q} × {self.n_k}'
        known = {'algorithm': self.algorithm, 'pass': self.row['pass'], 'n': f'{message("facet.n")} {n}', 'd': f'd {self.d}',
                 'mask': self.row['mask'], 'dtype': self.row['dtype'], 'heads': message('facet.heads_count', heads=heads)}
        cache = self.row['cache']
        known['cache'] = '' if cache == 'cold' else message('value.l2_state', state=cache)
        optional = {'algorithm', 'n'} - set(more)
        return ', '.join(text for name, text in known.items() if text and name not in optional)

    @property
    def problem(self):
        return self.settings()

    @property
    def configuration(self):
        """Equal for recordings of one configuration on one GPU."""
        fields = ('device', 'provenance', 'algorithm', 'pass', 'dtype', 'batch', 'heads_q', 'heads_kv', 'n_q', 'n_k', 'd',
                  'mask', 'br', 'bc', 'raster', 'cache', 'dropout', 'page', 'deterministic', 'gpus', 'gpu_order',
                  'splits', 'warps', 'stages')
        return tuple(self.row[field] for field in fields)

    @property
    def label(self):
        """The name of the point in the sentences of the report."""
        words = [self.algorithm, self.row['dtype']]
        words += [self.row['pass']] if self.row['pass'] != 'fwd' else []
        words += [self.row['mask']] if self.row['mask'] != 'full' else []
        heads = self.heads_q if self.heads_q == self.heads_kv else f'{self.heads_q}/{self.heads_kv}'
        n = self.n_q if self.n_q == self.n_k else f'{self.n_q}x{self.n_k}'
        words += [f'batch {self.batch} heads {heads} N {n} d {self.d}']
        words += [f'tile {self.br}x{self.bc}'] if self.br else []
        for name, fallback in (('page', '0'), ('dropout', '0'), ('splits', '0'), ('warps', '0'), ('stages', '0')):
            words += [f'{name} {self.row[name]}'] if self.row[name] not in ('', fallback) else []
        return ' '.join(words)

    def ceiling_fractions(self, ceilings):
        """Returns the fraction of each ceiling that the point reaches."""
        seconds = self.time / 1e9
        # Tensor cores compute whole tiles, including the part beyond the matrix edge.
        whole = math.ceil(self.n_q / self.br) * self.br * math.ceil(self.n_k / self.bc) * self.bc
        unit, instruction = ('wgmma', 'wgmma') if self.algorithm == 'fa3' else ('mma.sync', 'mma')
        return {'DRAM': self.dram / seconds / ceilings['dram_read'],
                'L2': self.l2 / seconds / ceilings['l2_read'],
                unit: self.flops * whole / (self.n_q * self.n_k) / seconds / ceilings[f'{instruction}_{self.row["dtype"]}']}

    def nearest_ceiling(self, ceilings):
        return max(self.ceiling_fractions(ceilings).items(), key=lambda bound: bound[1])
