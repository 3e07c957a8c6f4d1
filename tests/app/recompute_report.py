#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recomputes every number of the sample report from `attnscope export` of the same file.

    recompute_report.py ATTNSCOPE SAMPLE

Each line of the Markdown report with a digit must match a known pattern. Its numbers, and each row of the report's CSV
tables, must equal values recomputed from the exported rows: medians and quartiles of the raw samples, sums of counters,
ratios, FLOPs. Data missing from exports (options of a run, source digests) is read from the file with SQL. Uses no code of
the program.
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

from exported_points import Point

UNITS = {'B': 1, 'KB': 1e3, 'MB': 1e6, 'GB': 1e9, 'TB': 1e12, 'ns': 1, 'µs': 1e3, 'ms': 1e6, 's': 1e9}
TILES_OF_A_MAP = 4  # minimum tiles of a problem for which the report draws maps (time, and bytes at two levels)
NAMES = {'naive': 'Naive', 'fa1': 'FA1', 'fa2': 'FA2', 'fa3': 'FA3', 'splitkv': 'Split-KV'}
SM_UNITS = ('wgmma', 'mma.sync')


class Mismatch(Exception):
    pass


def expect(condition, message):
    if not condition:
        raise Mismatch(message)


def expect_equal(got, wanted):
    expect(got == wanted, f'report: {got!r}, export: {wanted!r}')


def check_any(candidates, check):
    """Checks that any candidate matches: the report shows one of several runs of a point."""
    candidates = list(candidates)
    expect(candidates, 'no matching exported point')
    for place, candidate in enumerate(candidates, 1):
        try:
            return check(candidate)
        except Mismatch:
            if place == len(candidates):
                raise


class Report:
    def __init__(self, text, rows, document, ceilings, database):
        self.lines = [html.unescape(re.sub(r'\\(.)', r'\1', html.unescape(line))) for line in text.splitlines()]
        self.document, self.database = document, database
        grouped = itertools.groupby(rows, key=lambda row: (row['run'], row['point']))
        self.points = [Point(list(of_point)) for _, of_point in grouped]
        self.ceilings = {row['ceiling']: row['value'] for row in ceilings['rows']
                         if row['provenance'] != 'datasheet' and not row['argument']}
        self.numbers = 0

    # Checks of printed values.
    def number(self, printed, value, unit=1):
        expect(value is not None, f'{printed}: no exported value')
        word = printed.replace(',', '')
        digits = len(word.split('e')[0].partition('.')[2])
        scale = 10 ** int(word.split('e')[1]) if 'e' in word else 1
        # Half of the last digit; values printed with full precision exceed the accuracy of a floating-point sum.
        allowed = 0.5001 * 10 ** -digits * scale if digits <= 5 else 1e-12 * abs(value / unit)
        expect(abs(float(word) - value / unit) <= allowed, f'printed {printed}, recomputed {value / unit}')
        self.numbers += 1

    def cell(self, printed, value):
        if printed == '':
            return expect(value is None, f'missing value: {value}')
        self.number(printed, value)

    def quantity(self, text, value):
        word, unit = text.split()
        self.number(word, value, UNITS[unit])

    def count(self, printed, value):
        expect_equal(str(printed).replace(',', ''), str(value))
        self.numbers += 1

    def check(self):
        wrong = []
        for place, line in enumerate(self.lines):
            if not re.search(r'\d', line) or line.startswith('!['):
                continue
            try:
                pattern, handler = next((each for each in SENTENCES if re.fullmatch(each[0], line)), (None, None))
                expect(pattern, 'unknown sentence')
                handler(self, place, re.fullmatch(pattern, line))
            except Exception as error:  # a parse error also counts as a mismatch
                wrong.append(f'line {place + 1}: {error!r}\n  {line[:300]}')
        return wrong

    def check_table(self, name, rows, check):
        wrong = []
        for place, row in enumerate(rows):
            try:
                check(place, row)
            except Exception as error:
                wrong.append(f'{name}, row {place + 1}: {error!r}')
        return wrong

    def run_of(self, title):
        run = next(run for run in self.document['runs'] if str(run['run']) == title.split()[0])
        expect_equal(title, f'{run["run"]} ({run["preset"]})')
        return run

    def point_row(self, place, cells):
        point = self.points[place]
        self.count(cells['row'], place + 1)
        expect_equal(self.run_of(cells['run'])['run'], point.run)
        expect_equal((cells['point'], cells['outcome']), (point.label, point.row['disposition']))
        expect_equal(cells['reason'], point.row['reason'])
        self.count(cells['n'], point.n_q if point.n_q == point.n_k else f'{point.n_q} × {point.n_k}')
        self.count(cells['d'], point.d)
        values = ('time_median_ns', 'time_q1_ns', 'time_q3_ns', 'tflops', 'dram_bytes', 'l2_sm_bytes', 'l2_sm_over_model')
        if not point.has_values:
            return expect_equal(''.join(cells[name] for name in values + ('origin',)), '')
        expect_equal(cells['origin'], point.row['provenance'] + self.throttled_note(point))
        ratio = point.l2 / point.model_l2 if point.l2 and point.model_l2 else None
        recomputed = (point.time, point.quartile(0.25), point.quartile(0.75), point.tflops, point.dram, point.l2, ratio)
        for name, value in zip(values, recomputed):
            self.cell(cells[name], value)

    def run_row(self, _, cells):
        run = self.run_of(cells['run'])
        environment = self.document['environments'][run['environment']]
        options, rounds = self.database.execute('SELECT options, rounds FROM runs WHERE id = ?', (run['run'],)).fetchone()
        options = json.loads(options)
        measured = run['provenance'] == 'measured'
        points = [point for point in self.points if point.run == run['run']]
        ran = [point for point in points if point.has_values]
        samples = [len(point.samples) for point in ran]
        clocks = [round(point.number('sm_clock_hz') / 1e6) for point in points if point.number('sm_clock_hz')]
        digests = [digest for digest, in self.database.execute(
            'SELECT DISTINCT l.digest FROM launches l JOIN kernels k ON k.id = l.kernel_id JOIN points p ON '
            'p.id = k.point_id WHERE p.run_id = ? ORDER BY l.digest', (run['run'],))]
        span = lambda values: str(min(values)) if min(values) == max(values) else f'{min(values)} – {max(values)}'
        wanted = {'values': run['provenance'], 'program': environment['app_version'],
                  'driver': environment['driver_version'], 'nvrtc': environment['nvrtc_version'],
                  'system': environment['operating_system'], 'rounds': str(rounds) if measured else '',
                  'sampling': f'{options["min_samples"]} to {options["max_samples"]} a point, until quartiles lie '
                              f'within {100 * options["max_noise"]:.0f}%' if measured else '',
                  'started': f'{run["started_at"]} ({run["state"]})',
                  'points': f'{len(points)}, of them {len(ran)} ok', 'samples': span(samples) if measured else '',
                  'clock': f'{span(clocks)} MHz' if clocks else '',
                  'throttled': str(sum(point.row['throttled'] == 'true' for point in points)) if measured else '',
                  'digest': f'{len(digests)} sources, from {digests[0]} to {digests[-1]}' if digests else '',
                  'command': ' '.join(f"'{word}'" if ' ' in word else word for word in run['argv'])}
        for key, value in wanted.items():
            expect_equal((key, cells[key]), (key, value))
            self.numbers += len(re.findall(r'\d+', value))
        expect(run['device_uuid'] in cells['gpu'], cells['gpu'])
        judged = [point for point in points if point.row['max_abs_error']]
        if not judged:
            return expect_equal(cells['outputs'], 'not judged')
        worst = max(point.number('max_abs_error') / point.number('error_bound') for point in judged)
        count, error = re.fullmatch(r'(\d+) judged against float64; largest error (\S+) of what is allowed',
                                    cells['outputs']).groups()
        self.count(count, len(judged))
        self.number(error, worst)

    # Checks of sentences.
    def heading_above(self, place):
        line = next(line for line in reversed(self.lines[:place]) if line.startswith('### '))
        return re.fullmatch(HEADING, line)

    def heading(self, _, found):
        expect(any(point.problem == found['problem'] and point.n_q == int(found['n'] or point.n_q)
                   for point in self.points), 'no exported point of this problem')

    @staticmethod
    def throttled_note(point, follows_clocks=True):
        return ' at throttled clocks' if follows_clocks and point.row['throttled'] == 'true' else ''

    def comparison(self, place, found):
        above = self.heading_above(place)
        of = (lambda p: p.dram) if found['what'] == 'moves' else (lambda p: p.time)
        find_points = lambda name: [p for p in self.points if p.has_values and p.problem == above['problem'] and p.n_q == int(above['n'])
                              and f'{NAMES.get(p.algorithm)} ({p.br} × {p.bc})' == name]

        def check(pair):
            less, more = pair
            self.number(found['times'], of(more) / of(less))
            self.quantity(found['less_value'], of(less))
            self.quantity(found['more_value'], of(more))
            # DRAM bytes do not depend on the clocks.
            origins = ['measured' + self.throttled_note(point, found['what'] == 'is') for point in pair]
            expect_equal(found['origin'], ', '.join(dict.fromkeys(origins)))

        check_any(itertools.product(find_points(found['less']), find_points(found['more'])), check)

    def bound(self, place, found):
        matching = [point for point in self.points if point.problem == self.heading_above(place)['problem'] and point.has_values and
                 NAMES.get(point.algorithm) == found['name']]

        def check(run):
            by_length = collections.defaultdict(list)
            for point in matching:
                if point.run == run:
                    by_length[point.n_q].append(point)
            fastest = {n: min(points, key=lambda point: point.time) for n, points in by_length.items()}
            roofs = {n: point.nearest_ceiling(self.ceilings)[0] for n, point in fastest.items()}
            expect_equal(found['origin'], 'derived' + self.throttled_note(fastest[max(fastest)]))
            n = int(found['n'])
            if 'longest' in found.string:
                expect_equal((n, roofs[n]), (max(roofs), found['roof']))
            elif 'at every' in found.string:
                expect_equal((n, int(found['last'])), (min(roofs), max(roofs)))
                expect(all(roof in SM_UNITS for roof in roofs.values()), 'some N is memory-bound')
            else:
                expect(all((roof in SM_UNITS) == (each >= n) for each, roof in roofs.items()), 'wrong N')
            self.numbers += 1

        check_any(sorted({point.run for point in matching}), check)

    def closed_form(self, _, found):
        off = {point: abs(point.l2 / point.model_l2 - 1) for point in self.points
               if point.has_values and point.l2 and point.model_l2 and point.row['provenance'] == 'measured'}
        farthest = max(off, key=off.get)
        self.number(found['share'], 100 * off[farthest])
        self.count(found['points'], len(off))
        expect_equal(found['point'], farthest.label)

    def failures(self, _, found):
        ended = [point for point in self.points if point.row['disposition'] == found['how']]
        self.count(found['count'], len(ended))
        self.count(found['all'], len(self.points))
        reasons = collections.Counter(point.row['reason'] for point in ended)
        self.count(found['often'], max(reasons.values()))
        expect_equal(reasons[found['reason']], max(reasons.values()))
        expect(any((point.label, point.row['reason']) == (found['point'], found['reason']) for point in ended),
               'no point has this outcome and reason')

    def tiles(self, _, found):
        runs = collections.defaultdict(list)
        for point in self.points:
            if point.has_values and point.br and (point.algorithm, str(point.n_q), str(point.d)) == (
                    found['algorithm'], found['n'], found['d']) and f'{point.batch} × {point.heads_q}' == found['heads']:
                runs[point.run].append(point)
        of_map = max(runs.values(), key=len)
        best = min(of_map, key=lambda point: point.time)
        expect_equal(found['best'], f'{best.br} × {best.bc}')
        self.quantity(found['value'], best.time)
        self.count(found['others'], sum(point.time <= best.quartile(0.75) for point in of_map) - 1)
        self.count(found['left'], 3 * len(self.maps()) - 1)

    def maps(self):
        tiles = collections.defaultdict(set)
        for point in self.points:
            if point.br:
                tiles[point.problem, point.n_q, point.n_k, point.algorithm].add((point.br, point.bc))
        return [key for key, of_key in tiles.items() if len(of_key) >= TILES_OF_A_MAP]

    def curves(self, _, found):
        lengths = collections.defaultdict(set)
        for point in self.points:
            if point.has_values:
                lengths[point.problem].add((point.n_q, point.n_k))
        expect(found['problem'] in lengths, 'no exported point of this problem')
        # Problems with a single length and a tile map have no curve.
        of_maps = {key[0] for key in self.maps()}
        self.count(found['left'], sum(len(of_problem) > 1 or problem not in of_maps
                                      for problem, of_problem in lengths.items()) - 1)

    def summary(self, _, found):
        runs = self.document['runs']
        expect_equal((found[1], found[2]), (min(run['started_at'] for run in runs), max(run['started_at'] for run in runs)))
        self.count(found[3], len(runs))
        self.count(found[4], len(self.points))

    def share_of_points(self, _, found):
        key, value = ('provenance', 'imported') if found[0].startswith('Imported') else ('throttled', 'true')
        with_values = [point for point in self.points if point.has_values]
        self.count(found[1], sum(point.row[key] == value for point in with_values))
        self.count(found[2], len(with_values))

    def devices(self, _, found):
        environments = {(environment['app_version'], environment['driver_version'])
                        for environment in self.document['environments']}
        for program, driver in re.findall(r'attnscope ([\d.]+), driver ([\d.]+)\)', found[0]):
            expect((program, driver) in environments, 'no run has these versions')

    def no_numbers(self, _, found):
        pass


HEADING = r'### .* on H200(?: at N (?P<n>\d+))? \((?P<problem>d .*? · L2 at start \w+)(?:; .*)?\)'
LEFT = r' (?P<left>\d+) more problems, of fewer points, are not drawn: their points are among all points\.'
SENTENCES = [
    (r'# Attention on NVIDIA H200', Report.no_numbers),
    (r'From h200\.attnscope, recorded (\S+) to (\S+)\. Runs: (\d+)\. Points: (\d+)\.', Report.summary),
    (r'Measured: .*', Report.devices),
    (r'Imported data are in this report: (\d+) of (\d+) points with values come from another program\.',
     Report.share_of_points),
    (r'Clocks were throttled: (\d+) of (\d+) points with values were measured while the GPU slowed its clocks\.',
     Report.share_of_points),
    (HEADING, Report.heading),
    (r'(?P<less>\S+ \(\d+ × \d+\)) (?P<what>moves|is) (?P<times>\S+) times (?:fewer DRAM bytes|faster) than '
     r'(?P<more>\S+ \(\d+ × \d+\)): (?P<less_value>\S+ \S+) instead of (?P<more_value>\S+ \S+) \((?P<origin>[^)]*)\)\.',
     Report.comparison),
    (r'(?P<name>\S+): at the longest N, (?P<n>\d+), the nearest bound is still memory \((?P<roof>\S+); '
     r'(?P<origin>[^)]*)\)\.', Report.bound),
    (r'(?P<name>\S+): at every N from (?P<n>\d+) to (?P<last>\d+) a unit of the SMs is nearer than any memory '
     r'\((?P<origin>[^)]*)\)\.', Report.bound),
    (r'(?P<name>\S+) stops being memory-bound at N (?P<n>\d+): from there on the nearest bound is (?:wgmma|mma\.sync) '
     r'\((?P<origin>[^)]*)\)\.', Report.bound),
    (r'The largest distance of counted SM↔L2 bytes from the closed form is -?(?P<share>[\d.]+)%, of (?P<points>\S+) '
     r'points: (?P<point>.*)\.', Report.closed_form),
    (r'(?P<count>\d+) of (?P<all>\d+) points ended (?P<how>\S+)\. The most frequent reason, of (?P<often>\d+) of them, '
     r'as (?P<point>.*?): (?P<reason>.*)', Report.failures),
    (r'Time \[\S+\] · device H200 · algorithm (?P<algorithm>\S+) · N (?P<n>\d+) · d (?P<d>\d+) · pass fwd · mask full · '
     r'type fp16 · batch × heads (?P<heads>\d+ × \d+) · .* The best is (?P<best>\d+ × \d+) with (?P<value>\S+ \S+); '
     r'other tiles within its scatter: (?P<others>\d+)\.' + LEFT, Report.tiles),
    (r'(?:DRAM bytes|Time) · (?P<problem>d \d+ · .*? · L2 at start \w+)\. .*' + LEFT, Report.curves),
    (r'Roofline · NVIDIA H200 · (?P<problem>d \d+ · .*? · L2 at start \w+)\. .*', Report.no_numbers),
    (r'Written by attnscope 0\.1\.0\. The same files give the same report\.', Report.no_numbers),
]


def read_table(file):
    with open(file, encoding='utf-8', newline='') as rows:
        return list(csv.DictReader(rows))


def main():
    program, sample = sys.argv[1:3]
    csv.field_size_limit(1 << 24)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for arguments in (['report', sample, '-o', folder / 'report.md'],
                          ['export', sample, '--format', 'csv', '-o', folder / 'rows.csv'],
                          ['export', sample, '--format', 'json', '-o', folder / 'document.json']):
            subprocess.run([program, *map(str, arguments)], check=True)
        ceilings = subprocess.run([program, 'ceilings', sample, '--json'], check=True, stdout=subprocess.PIPE)
        report = Report((folder / 'report.md').read_text(encoding='utf-8'), read_table(folder / 'rows.csv'),
                        json.loads((folder / 'document.json').read_text(encoding='utf-8')), json.loads(ceilings.stdout),
                        sqlite3.connect(f'file:{sample}?mode=ro&immutable=1', uri=True))
        wrong = report.check()
        points = read_table(folder / 'report-figures/points.csv')
        expect(len(points) == len(report.points), 'points.csv lacks points')
        wrong += report.check_table('points.csv', points, report.point_row)
        wrong += report.check_table('runs.csv', read_table(folder / 'report-figures/runs.csv'), report.run_row)
    for each in wrong[:40]:
        print(each)
    print(f'{report.numbers:,} numbers recomputed, {len(wrong)} lines differ')
    return 1 if wrong or report.numbers < 6000 else 0


if __name__ == '__main__':
    sys.exit(main())
