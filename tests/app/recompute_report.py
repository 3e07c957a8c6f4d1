#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every number of the sample's report is recomputed from `attnscope export` of the same file.

    recompute_report.py ATTNSCOPE SAMPLE

Each line of the Markdown report with a digit in it has to be known here, and each of its numbers, in their order, to
be what this script makes of the exported rows: medians and quartiles of the raw samples, sums of counters, ratios,
floating-point work, fits. What an export does not hold (options of a run, digests of sources) is read of the file
itself by SQL, and what is no result (a sentence without arguments) of the messages. Nothing of the program's own code
is used; the paper's column is copied from the paper's Fig. 2.
"""
import collections
import csv
import html
import itertools
import json
import pathlib
import re
import sqlite3
import subprocess
import sys
import tempfile

from exported_points import Point, power_law

NUMBER = re.compile(r'(?<![\w.])-?\d+(?:,\d{3})*(?:\.\d+)?(?:e[+-]?\d+)?')
UNITS = {'B': 1, 'KB': 1e3, 'MB': 1e6, 'GB': 1e9, 'TB': 1e12, 'ns': 1, 'µs': 1e3, 'ms': 1e6, 's': 1e9, 'MiB': 2**20,
         'TB/s': 1e12, 'Top/s': 1e12, 'TFLOP/s': 1e12, 'PFLOP/s': 1e15, 'MHz': 1e6}
UNITS_COUNTED = {'ALU': 'alu', 'DRAM': 'dram', 'Shared memory': 'shared', 'Tensor cores': 'tensor',
                 "SMs' ports to L2": 'l2_port', 'XU (exp2)': 'xu'}
CEILINGS = {'DRAM read': 'dram_read', 'DRAM write': 'dram_write', 'DRAM copy, both ways': 'dram_copy',
            'DRAM copy by the driver (cuMemcpyDtoD)': 'dram_copy_driver', 'L2 read': 'l2_read',
            'L2 for data that all SMs share (half of the reads miss)': 'l2_shared_capacity',
            'L2 for data that each SM keeps (half of the reads miss)': 'l2_private_capacity',
            'Shared memory read': 'shared_memory_read', 'fp32 multiply-add': 'fma_fp32', 'exp2, fp32': 'exp2_fp32',
            'Tensor cores, fp16, mma.sync': 'mma_fp16', 'Tensor cores, bf16, mma.sync': 'mma_bf16',
            'Tensor cores, fp16, wgmma': 'wgmma_fp16', 'Tensor cores, bf16, wgmma': 'wgmma_bf16',
            'Tensor cores, fp8, wgmma': 'wgmma_fp8', 'An empty launch after another': 'launch_overhead',
            'Load from shared memory, waited for': 'latency_shared_memory', 'Load from L1, waited for': 'latency_l1',
            'Load from L2, waited for': 'latency_l2', 'Load from DRAM, waited for (random lines)': 'latency_dram'}
# arXiv 2205.14135v2, Fig. 2: GFLOP, GB of HBM, ms; its middle: GB and ms by Bc.
PAPER_LEFT = {'Naive': (66.6, 40.3, 41.7), 'FA1': (75.2, 4.4, 7.3), 'FA2': (75.2, 4.4, 7.3), 'FA3': (75.2, 4.4, 7.3)}
PAPER_MIDDLE = {64: (6.58, 8.6), 128: (3.36, 4.7), 256: (1.74, 3.3), 512: (0.94, 3.2)}
TILES_OF_A_MAP = 4  # from so many on, tiles of one problem are drawn as maps, of time and of bytes at two levels
NAMES = {'naive': 'Naive', 'fa1': 'FA1', 'fa2': 'FA2', 'fa3': 'FA3', 'splitkv': 'Split-KV'}


class Unknown(Exception):
    pass


def expect(right, why):
    if not right:
        raise Unknown(why)


def same_text(got, wanted):
    expect(got == wanted, f'it says {got!r}, and the export {wanted!r}')


class Report:
    def __init__(self, text, rows, document, ceilings, database, messages):
        lines = [html.unescape(re.sub(r'\\(.)', r'\1', html.unescape(line))) for line in text.splitlines()]
        self.lines = [re.sub(r'<a id="[^"]*"></a>', '', line) for line in lines]
        self.document, self.database = document, database
        grouped = itertools.groupby(rows, key=lambda row: (row['run'], row['point']))
        self.points = [Point(list(of_point)) for _, of_point in grouped]
        self.device = document['devices'][0]
        self.of_ceilings = {row['ceiling']: row for row in ceilings['rows'] if row['provenance'] != 'datasheet' and not row['argument']}
        self.ceilings = {name: row['value'] for name, row in self.of_ceilings.items()}
        self.constants = {html.unescape(text) for group in messages.values() if isinstance(group, dict)
                          for text in group.values() if isinstance(text, str) and '{' not in text}
        self.section = ''
        self.header = []
        self.numbers = 0

    def point(self, number):
        return self.points[int(number) - 1]

    # What a printed number has to be.
    def number(self, printed, value, unit=1):
        expect(value is not None, f'{printed} is of nothing that was exported')
        word = printed.replace(',', '')
        digits = len(word.split('e')[0].partition('.')[2])
        scale = 10 ** int(word.split('e')[1]) if 'e' in word else 1
        # Half of the last digit; what is printed as it is has more of them than a sum of floating point keeps.
        allowed = 0.5001 * 10 ** -digits * scale if digits <= 5 else 1e-12 * abs(value / unit)
        expect(abs(float(word) - value / unit) <= allowed, f'{printed} is printed, {value / unit} recomputed')
        self.numbers += 1

    def cell(self, printed, value):
        if printed == '':
            return expect(value is None, f'{value} is left out')
        self.number(printed, value)

    def quantity(self, text, value):
        word, unit = text.split()
        self.number(word, value, UNITS[unit])

    def share(self, text, value):
        expect(text.endswith('%'), text)
        self.number(text[:-1], 100 * value)

    def count(self, printed, value):
        same_text(str(printed), str(value))
        self.numbers += 1

    def check(self):
        wrong = []
        for place, line in enumerate(self.lines):
            if line.startswith('## '):
                self.section, self.header = line[3:], []
                continue
            if not re.search(r'\d', line) or line.startswith('!['):
                if line == '':
                    self.header = []
                continue
            try:
                if line.startswith('|'):
                    self.table_row(place, line)
                else:
                    self.sentence(place, line)
            except Exception as error:  # what could not be read is as wrong as what differs
                wrong.append(f'line {place + 1}: {error!r}\n  {line[:300]}')
        return wrong

    @staticmethod
    def cut(line):
        return [cell.strip() for cell in line[1:-1].split('|')]

    def below(self, place):
        """The rows of the next table."""
        start = next(i for i in range(place, len(self.lines)) if self.lines[i].startswith('|'))
        rows = itertools.takewhile(lambda line: line.startswith('|'), self.lines[start:])
        header, _, *body = [self.cut(line) for line in rows]
        return [dict(zip(header, row)) for row in body]

    def table_row(self, place, line):
        above = place
        while self.lines[above - 1].startswith('|'):
            above -= 1
        header = self.cut(self.lines[above])
        if place - above < 2:
            return same_text(re.sub(r'95%|Q1|Q3|L2', '', line), re.sub(r'\d', '', re.sub(r'95%|Q1|Q3|L2', '', line)))
        cells = dict(zip(header, self.cut(line)))
        expect(len(header) == len(self.cut(line)), 'cells of another number than the header')
        for key, found in cells.items():
            cells[key] = re.sub(r'\[([^]]*)\]\(#row-(\d+)\)', r'\1', found)
            link = re.search(r'\(#row-(\d+)\)', found)
            if link and key == 'Row':
                same_text(cells[key], link[1])
        handlers = {'Environment and trust': self.environment_row, 'Bytes against N': self.curve_row,
                    'Exponents': self.exponent_row, 'Time and rate against N': self.curve_row,
                    'Tiles': self.tile_row, 'Roofline': self.roofline_row, 'Units and waits, counted': self.use_row, 'Bytes by kernel': self.kernel_row,
                    "The paper's table beside ours": self.paper_row, 'What did not run': self.failure_row,
                    'All points': self.all_points_row}
        handlers[self.section](place, cells)

    def ceiling_row(self, cells):
        if cells['Ceiling'] == 'Use of the GPU by others, before':
            return same_text(cells['Value'], f'{self.ceilings["other_processes_pct"]:.0f}%')
        row = self.of_ceilings[CEILINGS[cells['Ceiling']]]
        self.quantity(cells['Value'], row['value'])
        same_text(cells['Provenance'], row['provenance'])
        if cells['Spread']:
            self.share(cells['Spread'].removeprefix('±'), (row['q3'] - row['q1']) / 2 / row['value'])
        if cells['SM clock']:
            self.quantity(cells['SM clock'], self.ceilings[row['ceiling'] + '_clock'])

    def environment_row(self, place, cells):
        if 'Ceiling' in cells:
            return self.ceiling_row(cells)
        if 'Run' not in cells:
            key, value = cells['What'], cells['Value']
            ids = [int(word) for word in re.findall(r'(\d+) \(', next(
                line for line in reversed(self.lines[:place]) if line.startswith('Runs ')))]
            runs = [run for run in self.document['runs'] if run['run'] in ids]
            environment = self.document['environments'][runs[0]['environment']]
            options = json.loads(self.database.execute('SELECT options FROM runs WHERE id = ?', (ids[0],)).fetchone()[0])
            rounds, = self.database.execute('SELECT rounds FROM v_runs WHERE run = ?', (ids[0],)).fetchone()
            wanted = {'GPU': f'{self.device["name"]} ({runs[0]["device_uuid"]})',
                      'attnscope': environment['app_version'], 'Driver': environment['driver_version'],
                      'CUPTI': environment['cupti_version'], 'NVRTC': environment['nvrtc_version'],
                      'System': environment['operating_system'],
                      'Sampling': f'{options["min_samples"]} to {options["max_samples"]} a point, until quartiles lie '
                                  f'within {100 * options["max_noise"]:.0f}%', 'Rounds': str(rounds)}
            self.numbers += len(NUMBER.findall(value))
            return same_text(value, wanted[key])
        run = next(run for run in self.document['runs'] if str(run['run']) == cells['Run'].split()[0])
        points = [point for point in self.points if point.run == run['run']]
        same_text(cells['Run'], f'{run["run"]} ({run["preset"]})')
        same_text(cells['Started'], f'{run["started_at"]} ({run["state"]})')
        ran = [point for point in points if point.ran]
        same_text(cells['Points'], f'{len(points)}, of them {len(ran)} ok')
        samples = [len(point.samples) for point in ran]
        measured = run['provenance'] == 'measured'
        span = str(min(samples)) if min(samples) == max(samples) else f'{min(samples)} – {max(samples)}'
        same_text(cells['Samples'], span if measured else '')
        clocks = [point.number('sm_clock_hz') / 1e6 for point in points if point.number('sm_clock_hz')]
        if clocks:
            low, high = round(min(clocks)), round(max(clocks))
            same_text(cells['SM clock'], f'{low} MHz' if low == high else f'{low} – {high} MHz')
            self.count(cells['Clocks throttled'], sum(point.row['throttled'] == 'true' for point in points))
        judged = [point for point in points if point.row['max_abs_error']]
        if judged:
            worst = max(point.number('max_abs_error') / point.number('error_bound') for point in judged)
            count, error = re.fullmatch(r'(\d+) judged against float64; largest error (\S+) of what is allowed',
                                        cells['Outputs']).groups()
            self.count(count, len(judged))
            self.number(error, worst)
        digests = [digest for digest, in self.database.execute(
            'SELECT DISTINCT l.digest FROM launches l JOIN kernels k ON k.id = l.kernel_id JOIN points p ON '
            'p.id = k.point_id WHERE p.run_id = ? ORDER BY l.digest', (run['run'],))]
        same_text(cells['Digest of kernel sources'],
                  f'{len(digests)} sources, from {digests[0]} to {digests[-1]}' if digests else '')
        self.numbers += len(NUMBER.findall(' '.join(cells.values())))

    def values_of(self, title, kernel):
        """Value and quartiles of a column of that title."""
        if title.startswith('DRAM'):
            return kernel.dram, None, None
        if title.startswith('SM'):
            return kernel.l2, None, None
        if title.startswith('TFLOP/s'):
            low, high = kernel.quartile(0.25), kernel.quartile(0.75)
            return kernel.tflops, kernel.flops / high / 1e3 if high else None, kernel.flops / low / 1e3 if low else None
        expect(title.startswith('Time'), title)
        return kernel.time, kernel.quartile(0.25), kernel.quartile(0.75)

    def problem_above(self, place):
        line = next(line for line in reversed(self.lines[:place]) if ' · L2 at start ' in line and line[0] != '|')
        return re.search(r'(d \d+ · .* · L2 at start \w+)\.', line)[1]

    def curve_row(self, place, cells):
        title = list(cells)[2]
        problem = self.problem_above(place)
        if cells['Row'] == '':
            same_text(cells['Series'], 'compulsory minimum')
            d, batch, heads = map(int, re.search(r'd (\d+) .* (\d+) × (\d+) ·', problem).groups())
            # Q, K, V and O, of two bytes an element, each once.
            return self.number(cells[title], 4 * batch * heads * int(cells['N']) * d * 2)
        point = self.point(cells['Row'])
        same_text(NAMES.get(point.algorithm, point.algorithm), cells['Series'])
        same_text(point.problem, problem)
        self.count(cells['N'], point.n_q)
        value, low, high = self.values_of(title, point)
        self.cell(cells[title], value)
        self.cell(cells['Q1'], low)
        self.cell(cells['Q3'], high)

    def exponent_row(self, place, cells):
        if 'Law' in cells:
            line = [point for point in self.points if point.problem == cells['Problem'] and point.ran and
                    NAMES.get(point.algorithm) == cells['Series']]
            # The tile that the curve above is drawn of.
            curves = self.lines[self.lines.index('## Bytes against N'):place]
            drawn = [int(row) for row in re.findall(r'\(#row-(\d+)\) \|$', '\n'.join(curves), re.M)]
            line = sorted((point for point in line if self.points.index(point) + 1 in drawn), key=lambda p: p.n_q)
            longest = line[-int(cells['Points']):]  # shorter ones lie where the law does not hold yet
            slope, half = power_law([(point.n_q, point.l2) for point in longest])
            self.count(cells['Points'], len(longest))
            self.number(cells['Exponent of N'], slope)
            if cells['95% interval']:
                low, high = cells['95% interval'].strip('[]').split(', ')
                self.number(low, slope - half)
                self.number(high, slope + half)
            return
        if cells['Bytes of'] == "Theorem 2: N²d²/M":
            return same_text((cells['N'], cells['d'], cells['M']), ('2', '2', '-1'))
        run = int(re.search(r'· (\d+) \(', cells['Provenance'])[1])
        name, level = cells['Bytes of'].split(' · ')
        expect(name == 'FA2', name)  # whose rule is M = 4 d Br and Bc = min(Br, d)
        batch, heads = map(int, re.search(r'(\d+) × (\d+)', cells['Problem']).groups())
        of_law = [point for point in self.points if point.run == run and NAMES.get(point.algorithm) == name and
                  point.ran and point.bc == min(point.br, point.d) and point.batch == batch and
                  point.heads_q == heads]
        inside = [point for point in of_law if point.d <= 4 * point.d * point.br <= point.n_q * point.d]
        laws = [2 * batch * heads * point.n_q ** 2 * point.d ** 2 / (4 * point.d * point.br) for point in inside]
        counted = [point.l2 if level == 'SM↔L2' else point.dram for point in inside]
        over = [bytes_of / law for bytes_of, law in zip(counted, laws)]
        self.count(cells['Points'], len(inside))
        low, high = cells['Bytes over law'].split(' – ')
        self.number(low, min(over))
        self.number(high, max(over))
        self.number(cells['Spread'].split()[0], max(counted) / min(counted))
        words = re.search(r'only (\d+) points, where 8 are the least\..* Left out: (\d+) not d ≤ M ≤ N·d, 0 whose', cells['Note'])
        self.count(words[1], len(inside))
        self.count(words[2], len(of_law) - len(inside))

    def tile_row(self, _, cells):
        point = self.point(cells['Row'])
        same_text(cells['Br × Bc'], f'{point.br} × {point.bc}')
        title = list(cells)[1]
        self.cell(cells[title], self.values_of(title, point)[0])
        same_text(cells['Outcome'], point.row['disposition'])
        same_text(cells['Reason'], point.row['reason'])
        self.numbers += 2 + len(NUMBER.findall(cells['Reason']))

    def roofline_row(self, place, cells):
        point = self.point(cells['Row'])
        same_text(point.problem, self.problem_above(place))
        self.count(cells['N'], point.n_q)
        self.number(cells['FLOP per DRAM byte'], point.flops / point.dram)
        self.number(cells['TFLOP/s'], point.tflops)
        roof, reached = point.nearest(self.ceilings)
        same_text(cells['Nearest bound'], roof)
        self.share(cells['Reached'], reached)

    def use_row(self, _, cells):
        """A unit's use is printed over the kernel's time, where that was counted, else while SMs had warps."""
        point = self.point(cells['Row'])
        same_text(cells['Point'], point.named)
        name = (point.run, int(point.row['point']), 'all')
        exported = next(row for row in self.document['points'] if (row['run'], row['point'], row['kernel']) == name)
        metrics = {name: metric['value'] for name, metric in exported['metrics'].items()}
        use = metrics[f'{UNITS_COUNTED[cells["Busiest unit"]]}_utilization_pct']
        active = metrics['sm_active_cycles'] / (point.time * 1e-9 * point.number('sm_clock_hz'))
        self.one_of(cells['Use'].removesuffix('%'), [use, use * active])
        bound = cells['Busiest unit'] if float(cells['Use'].removesuffix('%')) >= 60 else 'latency and issue'
        same_text(cells['Bound, counted'].lower(), bound.lower())
        waits = [float(word) for word in re.findall(r' (\d+\.\d+)', cells['Warps wait for'])]
        expect(waits == sorted(waits, reverse=True), 'the longest wait comes first')
        for wait in waits:
            self.one_of(f'{wait:.2f}', [value for name, value in metrics.items() if name.startswith('stall_')])

    def one_of(self, printed, values):
        nearest = min(values, key=lambda value: abs(value - float(printed)))
        self.number(printed, nearest)

    def kernel_row(self, place, cells):
        point = self.point(cells['Row'])
        same_text(point.problem, self.problem_above(place))
        self.count(cells['N'], point.n_q)
        kernel = point.kernels[cells['Kernel']]
        for title in list(cells)[3:5]:
            self.cell(cells[title], self.values_of(title, kernel)[0])

    def paper_row(self, _, cells):
        point = self.point(cells['Row'])
        self.count(cells['Bc'], point.bc)
        same_text((NAMES[point.algorithm], point.row['pass']), (cells['Algorithm'], cells['Pass']))
        left = cells['Figure'] == '2 left'
        gflop, gigabytes, milliseconds = PAPER_LEFT[cells['Algorithm']] if left else (None,) + PAPER_MIDDLE[point.bc]
        # Naive keeps S, FlashAttention computes it again.
        products = 6 if point.algorithm == 'naive' else 7
        ours, theirs = {'products': (point.matrices * products / 1e9, gflop), 'DRAM': (point.dram / 1e9, gigabytes),
                        'SM<->L2': (point.l2 / 1e9, gigabytes), 'time': (point.time / 1e6, milliseconds),
                        'device memory': (point.number('memory_bytes') / 1e6, None)}[cells['Quantity']]
        self.number(cells['Ours'], ours)
        self.cell(cells['Paper (imported)'], theirs)
        self.cell(cells['Ours ÷ paper'], ours / theirs if theirs else None)

    def failure_row(self, _, cells):
        point = self.point(cells['Row'])
        same_text((cells['Point'], cells['Outcome'], cells['Reason']),
                  (point.named, point.row['disposition'], point.row['reason']))
        self.numbers += len(NUMBER.findall(cells['Point'] + cells['Reason']))

    def all_points_row(self, _, cells):
        point = self.point(cells['Row'])
        run = next(run for run in self.document['runs'] if run['run'] == point.run)
        same_text(cells['Run'], f'{run["run"]} ({run["preset"]})')
        same_text((cells['Point'], cells['Outcome']), (point.named, point.row['disposition']))
        self.numbers += len(NUMBER.findall(cells['Run'] + cells['Point']))
        self.count(cells['N'], point.n_q if point.n_q == point.n_k else f'{point.n_q} × {point.n_k}')
        self.count(cells['d'], point.d)
        if not point.ran:
            return same_text(''.join(cells[name] for name in ('Time [ns]', 'Q1', 'Q3', 'TFLOP/s', 'DRAM [byte]',
                                                              'SM↔L2 [byte]', '÷ model')), '')
        self.number(cells['Time [ns]'], point.time)
        self.cell(cells['Q1'], point.quartile(0.25))
        self.cell(cells['Q3'], point.quartile(0.75))
        self.number(cells['TFLOP/s'], point.tflops)
        self.cell(cells['DRAM [byte]'], point.dram)
        self.cell(cells['SM↔L2 [byte]'], point.l2)
        self.cell(cells['÷ model'], point.l2 / point.model_l2 if point.l2 and point.model_l2 else None)

    def sentence(self, place, line):
        for pattern, handler in SENTENCES:
            found = re.fullmatch(pattern, line)
            if found:
                return handler(self, place, found)
        expect(line in self.constants, 'no such sentence is known')

    def problem_of(self, place):
        return re.search(r'\((d .*?)[;)]', next(line for line in reversed(self.lines[:place])
                                               if line.startswith('### ')))[1]

    def heading(self, place, found):
        expect(any(point.problem == found['problem'] and point.n_q == int(found['n'] or point.n_q)
                   for point in self.points), 'no such problem was exported')

    def fewer(self, place, found):
        less, more = self.point(found['less_row']), self.point(found['more_row'])
        for point, name in ((less, found['less']), (more, found['more'])):
            same_text(f'{NAMES[point.algorithm]} ({point.br} × {point.bc})', name)
            same_text(point.problem, self.problem_of(place))
        of = (lambda p: p.dram) if found['what'] == 'moves' else (lambda p: p.time)
        self.number(found['times'], of(more) / of(less))
        self.quantity(found['less_value'], of(less))
        self.quantity(found['more_value'], of(more))
        # Bytes follow no clock.
        origins = ['measured' + self.throttled(point, found['what'] == 'is') for point in (less, more)]
        same_text(found['origin'], ', '.join(dict.fromkeys(origins)))
        self.numbers += 4

    @staticmethod
    def throttled(point, follows_clocks=True):
        return ' at throttled clocks' if follows_clocks and point.row['throttled'] == 'true' else ''

    def bound(self, place, found):
        point = self.point(found['row'])
        self.count(found['n'], point.n_q)
        same_text((NAMES[point.algorithm], point.problem), (found['name'], self.problem_of(place)))
        alike = [other for other in self.points if other.problem == point.problem and other.run == point.run and
                 other.algorithm == point.algorithm and other.ran]
        of_longest = [other for other in alike if other.n_q == max(each.n_q for each in alike)]
        same_text(found['origin'], 'derived' + self.throttled(min(of_longest, key=lambda other: other.time)))
        if 'longest' in found.string:
            expect(point.n_q == max(other.n_q for other in alike), 'there is a longer one')
            same_text(point.nearest(self.ceilings)[0], found['roof'])
        elif 'at every' in found.string:
            last = self.point(found['last_row'])
            self.count(found['last'], last.n_q)
            expect(last.n_q == max(other.n_q for other in alike), 'there is a longer one')
            for n in {other.n_q for other in alike}:
                fastest = min((other for other in alike if other.n_q == n), key=lambda other: other.time)
                expect(fastest.nearest(self.ceilings)[0] in SM_UNITS, 'a memory is nearer')
        else:
            for n in sorted({other.n_q for other in alike}):
                fastest = min((other for other in alike if other.n_q == n), key=lambda other: other.time)
                expect((fastest.nearest(self.ceilings)[0] in SM_UNITS) == (n >= point.n_q), f'not at N {n}')

    def closed_form(self, _, found):
        off = {number: abs(point.l2 / point.model_l2 - 1) for number, point in enumerate(self.points, 1)
               if point.ran and point.l2 and point.model_l2}
        farthest = max(off, key=off.get)
        self.count(found['row'], farthest)
        self.share(found['share'], off[farthest])
        self.count(found['points'], len(off))
        same_text(found['point'], self.point(farthest).named)
        self.numbers += len(NUMBER.findall(found['point']))

    def failures(self, _, found):
        ended = [point for point in self.points if point.row['disposition'] == found['how']]
        self.count(found['count'], len(ended))
        self.count(found['all'], len(self.points))
        first = self.point(found['row'])
        same_text((found['point'], found['reason']), (first.named, first.row['reason']))
        reasons = collections.Counter(point.row['reason'] for point in ended)
        most = max(reasons.values())
        if 'often' in found.groupdict():
            self.count(found['often'], most)
        expect(reasons[first.row['reason']] == most, 'another reason is more frequent')
        self.numbers += len(NUMBER.findall(found['point'] + found['reason']))

    def tiles(self, place, found):
        rows = self.below(place)
        points = [self.point(re.search(r'row-(\d+)', row['Row'])[1]) for row in rows]
        for point in points:
            same_text((point.algorithm, str(point.n_q), str(point.d), f'{point.batch} × {point.heads_q}'),
                      (found['algorithm'], found['n'], found['d'], found['heads']))
        ran = [point for point in points if point.ran]
        if found['what'] == 'Time':
            best = min(ran, key=lambda point: point.time)
            near = [point for point in ran if point.time <= best.quartile(0.75)]
            value = best.time
        else:
            # Two counts between L2 and SM are the same.
            best = min(ran, key=lambda point: point.l2)
            near = [point for point in ran if point.l2 <= best.l2]
            value = best.l2
        same_text(found['best'], f'{best.br} × {best.bc}')
        self.quantity(found['value'], value)
        self.count(found['others'], len(near) - 1)
        self.numbers += 5

    def drawn(self, place, found):
        start = max(i for i in range(place) if self.lines[i].startswith('## '))
        shown = sum(self.is_caption(line) for line in self.lines[start:place])
        tiles, lengths = collections.defaultdict(set), collections.defaultdict(set)
        for point in self.points:
            if point.ran:
                lengths[point.problem].add((point.n_q, point.n_k))
            if point.br:
                tiles[point.problem, point.n_q, point.n_k, point.algorithm].add((point.br, point.bc))
        maps = [key for key, of_key in tiles.items() if len(of_key) >= TILES_OF_A_MAP]
        if self.section == 'Tiles':
            return self.count(found[1], 3 * len(maps) - shown)
        # One length, and its tiles in a map: no curve.
        curves = [problem for problem, of_problem in lengths.items()
                  if len(of_problem) > 1 or problem not in {key[0] for key in maps}]
        kinds = len({line.split(' · ')[0] for line in self.lines[start:place] if self.is_caption(line)})
        self.count(found[1], len(curves) - shown // kinds)

    @staticmethod
    def is_caption(line):
        return ' · L2 at start ' in line and line[0] not in '|!'

    def top(self, _, found):
        runs = self.document['runs']
        same_text((found[1], found[2]), (min(run['started_at'] for run in runs),
                                         max(run['finished_at'] or run['started_at'] for run in runs)))
        self.count(found[3], len(runs))
        self.count(found[4], len(self.points))

    def imported(self, _, found):
        with_values = [point for point in self.points if point.ran]
        self.count(found[1], sum(point.row['provenance'] == 'imported' for point in with_values))
        self.count(found[2], len(with_values))

    def of_throttled(self, _, found):
        with_values = [point for point in self.points if point.ran]
        self.count(found[1], sum(point.row['throttled'] == 'true' for point in with_values))
        self.count(found[2], len(with_values))

    def of_ceilings_set(self, _, found):
        same_text(found[1], self.of_ceilings['dram_read']['measured_at'])

    def run_names(self, _, found):
        for number, preset in re.findall(r'(\d+) \(([^)]*)\)', found[0]):
            same_text(preset, next(run['preset'] for run in self.document['runs'] if str(run['run']) == number))
            self.numbers += 1

    def command(self, _, found):
        argv = [' '.join(f"'{word}'" if ' ' in word else word for word in run['argv']) for run in self.document['runs']]
        expect(found[0] in argv, 'no run was made so')

    def of_paper(self, _, found):
        run = next(run for run in self.document['runs'] if run['preset'] == 'paper')
        self.count(found['run'], run['run'])
        of_run = [point for point in self.points if point.run == run['run']]
        for point in of_run:
            same_text((str(point.batch), str(point.heads_q), str(point.n_q), str(point.d)),
                      (found['batch'], found['heads'], found['n'], found['d']))
        self.numbers += 4

    def paper_products(self, _, found):
        point = next(point for point in self.points if point.row['pass'] == 'fwd+bwd' and point.n_q == int(found['n']) and
                     point.batch * point.heads_q == int(found['heads']) and point.d == int(found['d']))
        for name, products in (('fwd', 2), ('bwd', 4), ('again', 5)):
            self.number(found[name], point.matrices * products / 1e9)

    def l2_size(self, _, found):
        self.count(found[1], self.device['l2_bytes'] // 2 ** 20)
        same_text(found[2], '40')  # NVIDIA A100's datasheet

    def caption(self, place, found):
        expect(any(point.problem == found['problem'] for point in self.points), 'no such problem was exported')

    def constant(self, _, found):
        pass


SM_UNITS = ('wgmma', 'mma.sync')
ROW = r'\(#row-(?P<%s>\d+)\)'
SENTENCES = [
    (r'# Attention on NVIDIA H200', Report.constant),
    (r'From h200\.attnscope, recorded (\S+) to (\S+)\. Runs: (\d+)\. Points: (\d+)\.', Report.top),
    (r'> Imported data are in this report: (\d+) of (\d+) points with values come from another program\.',
     Report.imported),
    (r'> Clocks were throttled: (\d+) of (\d+) points with values were measured while the GPU slowed its clocks\.',
     Report.of_throttled),
    (r'### .* on H200(?: at N (?P<n>\d+))? \((?P<problem>d .*? · L2 at start \w+)(?:; .*)?\)', Report.heading),
    (r'(?P<less>\S+ \(\d+ × \d+\)) (?P<what>moves|is) (?P<times>\S+) times (?:fewer DRAM bytes|faster) than '
     r'(?P<more>\S+ \(\d+ × \d+\)): \[(?P<less_value>[^]]*)\]' + ROW % 'less_row' +
     r' instead of \[(?P<more_value>[^]]*)\]' + ROW % 'more_row' + r' \((?P<origin>[^)]*)\)\.', Report.fewer),
    (r'(?P<name>\S+): at the longest N, \[(?P<n>\d+)\]' + ROW % 'row' +
     r', the nearest bound is still memory \((?P<roof>\S+); (?P<origin>[^)]*)\)\.', Report.bound),
    (r'(?P<name>\S+): at every N from \[(?P<n>\d+)\]' + ROW % 'row' + r' to \[(?P<last>\d+)\]' + ROW % 'last_row' +
     r' a unit of the SMs is nearer than any memory \((?P<origin>[^)]*)\)\.', Report.bound),
    (r'(?P<name>\S+) stops being memory-bound at N \[(?P<n>\d+)\]' + ROW % 'row' +
     r': from there on the nearest bound is (?:wgmma|mma\.sync) \((?P<origin>[^)]*)\)\.', Report.bound),
    (r'The largest distance of counted SM↔L2 bytes from the closed form is \[(?P<share>[^]]*)\]' + ROW % 'row' +
     r', of (?P<points>\d+) points: (?P<point>.*)\.', Report.closed_form),
    (r'(?P<count>\d+) of (?P<all>\d+) points ended (?P<how>\S+)\. The most frequent reason, of (?P<often>\d+) of them, '
     r'as \[(?P<point>[^]]*)\]' + ROW % 'row' + r': (?P<reason>.*)', Report.failures),
    (r'(?P<count>\d+) of (?P<all>\d+) points ended (?P<how>[^,]+), each for a reason of its own\. The first, '
     r'\[(?P<point>[^]]*)\]' + ROW % 'row' + r': (?P<reason>.*)', Report.failures),
    (r'Runs (?:\d+ \([^)]*\)(?:, )?)+', Report.run_names),
    (r'(?P<what>Time|SM<->L2 total) \[\S+\] · device H200 · algorithm (?P<algorithm>\S+) · N (?P<n>\d+) · '
     r'd (?P<d>\d+) · pass fwd · mask full · type fp16 · batch × heads (?P<heads>\d+ × \d+) · .* The best is '
     r'(?P<best>\d+ × \d+) with (?P<value>\S+ \S+); other tiles within its scatter: (?P<others>\d+)\.', Report.tiles),
    (r'(?:Roofline · NVIDIA H200|[^·]*) · (?P<problem>d \d+ · .*? · L2 at start \w+)\. .*', Report.caption),
    (r'(\d+) more problems, of fewer points, are not drawn: their points are among all points\.', Report.drawn),
    (r'attnscope .*', Report.command),
    (r'Ceilings of NVIDIA H200 that attnscope measured, (\S+), kept in h200\.attnscope:', Report.of_ceilings_set),
    (r"Fig\. 2 of the FlashAttention paper \(arXiv 2205\.14135v2; batch (?P<batch>\d+), (?P<heads>\d+) heads, "
     r"N (?P<n>\d+), d (?P<d>\d+), on an A100\) beside run (?P<run>\d+) \(paper\) on H200\..*", Report.of_paper),
    (r".*the paper's row does not match its workload\. (?P<heads>\d+) heads of N (?P<n>\d+), d (?P<d>\d+) need "
     r"(?P<fwd>\d+) GFLOP forward and (?P<bwd>\d+) backward, (?P<again>\d+) where S is computed again;.*",
     Report.paper_products),
    (r'.*what the L2 \((\d+) MiB here, (\d+) MiB on an A100\) still holds.*', Report.l2_size),
    (r'Derived from counters, of each point that was counted with --why: .* From 60% on it is the bound.*',
     Report.constant),
    # The paper's and the A100's own numbers, in words.
    (r'Theorem 2 of FlashAttention \(arXiv 2205\.14135v2\): bytes grow as N\^2 d\^2 / M for d <= M <= N d\..*',
     Report.constant),
    (r"standard attention's 40\.3 GB are 18N²\+12Nd elements a head\. Algorithms 0 and 3 need 11N²\+12Nd,.*",
     Report.constant),
    (r'time: NVIDIA H200 against an A100 \(1\.56 TB/s\), fp16, cold L2, median\.', Report.constant),
    (r'Written by attnscope 0\.1\.0\. The same files give the same report\.', Report.constant),
]


def main():
    program, sample = sys.argv[1:3]
    source = pathlib.Path(__file__).resolve().parents[2]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for arguments in (['report', sample, '-o', folder / 'report.md', '--figures', '2'],
                          ['export', sample, '--format', 'csv', '-o', folder / 'rows.csv'],
                          ['export', sample, '--format', 'json', '-o', folder / 'document.json']):
            subprocess.run([program, *map(str, arguments)], check=True)
        ceilings = subprocess.run([program, 'ceilings', sample, '--json'], check=True, stdout=subprocess.PIPE)
        csv.field_size_limit(1 << 24)
        with open(folder / 'rows.csv', encoding='utf-8', newline='') as rows:
            exported = list(csv.DictReader(rows))
        report = Report((folder / 'report.md').read_text(encoding='utf-8'), exported,
                        json.loads((folder / 'document.json').read_text(encoding='utf-8')), json.loads(ceilings.stdout),
                        sqlite3.connect(f'file:{sample}?mode=ro&immutable=1', uri=True),
                        json.loads((source / 'assets/messages/en.json').read_text(encoding='utf-8')))
        wrong = report.check()
    for each in wrong[:40]:
        print(each)
    print(f'{report.numbers:,} numbers recomputed, {len(wrong)} lines not')
    return 1 if wrong or report.numbers < 10000 else 0


if __name__ == '__main__':
    sys.exit(main())
