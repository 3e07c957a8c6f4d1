#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recomputes every number of the sample report from `attnscope export` of the same file, and follows the links of reports.

    recompute_report.py ATTNSCOPE SAMPLES

SAMPLES: folder of the recorded samples. Links are followed in reports of each sample, of two samples, of a comparison of
two, and of five recordings of one sweep and their comparison.

Each line of the Markdown report with a digit must match a known message of assets/messages/en.json. Its numbers, and each
row of the report's CSV tables, must equal values recomputed from the exported rows: medians and quartiles of the raw
samples, sums of counters, ratios, FLOPs. Data missing from exports (options of a run, source digests) is read from the
file with SQL. Uses no code of the program.
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

from exported_points import Point, in_sentence
from message_texts import message, pattern
from recordings import import_recordings
from report_links import UNITS, Page

PARTIAL = 5  # exit code with a warning: a candidate without common points
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
        expect_equal(cells['origin'], self.origin(point.row['provenance'], point))
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
                  'sampling': message('report.sampling', least=options['min_samples'], most=options['max_samples'],
                                      noise=f'{100 * options["max_noise"]:.0f}%') if measured else '',
                  'started': f'{run["started_at"]} ({run["state"]})',
                  'points': message('report.points_ok', points=len(points), ok=len(ran)), 'samples': span(samples) if measured else '',
                  'clock': f'{span(clocks)} MHz' if clocks else '',
                  'throttled': str(sum(point.row['throttled'] == 'true' for point in points)) if measured else '',
                  'digest': message('report.digests', count=len(digests), first=digests[0], last=digests[-1])
                            if digests else '',
                  'command': ' '.join(f"'{word}'" if ' ' in word else word for word in run['argv'])}
        for key, value in wanted.items():
            expect_equal((key, cells[key]), (key, value))
            self.numbers += len(re.findall(r'\d+', value))
        expect(run['device_uuid'] in cells['gpu'], cells['gpu'])
        judged = [point for point in points if point.row['max_abs_error']]
        if not judged:
            return expect_equal(cells['outputs'], message('report.not_verified'))
        worst = max(point.number('max_abs_error') / point.number('error_bound') for point in judged)
        found = re.fullmatch(pattern('report.verified', points=COUNT, share=NUMBER), cells['outputs'])
        self.count(found['points'], len(judged))
        self.number(found['share'], worst)

    # Checks of sentences.
    def heading_above(self, place):
        line = next(line for line in reversed(self.lines[:place]) if line.startswith('### '))
        return next(found.groupdict() for found in (re.fullmatch(each, line) for each in HEADINGS) if found)

    def heading(self, _, found):
        n = found.groupdict().get('n')
        expect(any(point.problem == found['problem'] and (not n or point.n_q == int(n)) for point in self.points),
               'no exported point of this problem')

    @staticmethod
    def origin(word, point, depends_on_clocks=True):
        if depends_on_clocks and point.row['throttled'] == 'true':
            return message('report.origin_throttled', origin=word)
        return word

    def fewer_bytes(self, place, found):
        self.check_pair(place, found, 'bytes', lambda point: point.dram)

    def faster(self, place, found):
        self.check_pair(place, found, 'time', lambda point: point.time)

    def check_pair(self, place, found, quantity, value):
        above = self.heading_above(place)
        points_of = lambda name: [p for p in self.points if p.has_values and p.problem == above['problem'] and
                                  p.n_q == int(above['n']) and f'{NAMES.get(p.algorithm)} ({p.br} × {p.bc})' == name]

        def check(pair):
            less, more = pair
            self.number(found['ratio'], value(more) / value(less))
            self.quantity(found[f'own_{quantity}'], value(less))
            self.quantity(found[f'other_{quantity}'], value(more))
            # DRAM bytes do not depend on the clocks.
            origins = [self.origin(MEASURED, point, quantity == 'time') for point in pair]
            expect_equal(found['origin'], ', '.join(dict.fromkeys(origins)))

        check_any(itertools.product(points_of(found['series']), points_of(found['other'])), check)

    def stays_memory(self, place, found):
        def check(roofs):
            expect_equal((int(found['n']), roofs[int(found['n'])]), (max(roofs), found['bound']))
        self.check_bound(place, found, check)

    def never_memory(self, place, found):
        def check(roofs):
            expect_equal((int(found['first']), int(found['last'])), (min(roofs), max(roofs)))
            expect(all(roof in SM_UNITS for roof in roofs.values()), 'some N is memory-bound')
        self.check_bound(place, found, check)

    def leaves_memory(self, place, found):
        def check(roofs):
            expect_equal(found['bound'], roofs[int(found['n'])])
            expect(all((roof in SM_UNITS) == (n >= int(found['n'])) for n, roof in roofs.items()), 'wrong N')
        self.check_bound(place, found, check)

    def check_bound(self, place, found, check_roofs):
        times = [line for line in self.lines if re.fullmatch(pattern('report.faster'), line)]
        expect(any(found['series'] in line for line in times), 'no time of this tile')
        matching = [point for point in self.points if point.problem == self.heading_above(place)['problem'] and
                    point.has_values and f'{NAMES.get(point.algorithm)} ({point.br} × {point.bc})' == found['series']]

        def check(run):
            by_length = {point.n_q: point for point in matching if point.run == run}
            expect_equal(found['origin'], self.origin(DERIVED, by_length[max(by_length)]))
            check_roofs({n: point.nearest_ceiling(self.ceilings)[0] for n, point in by_length.items()})
            self.numbers += 1

        check_any(sorted({point.run for point in matching}), check)

    def closed_form(self, _, found):
        off = {point: abs(point.l2 / point.model_l2 - 1) for point in self.points
               if point.has_values and point.l2 and point.model_l2 and point.row['provenance'] == 'measured'}
        farthest = max(off, key=off.get)
        self.number(found['percent'].strip('-%'), 100 * off[farthest])
        self.count(found['points'], len(off))
        expect_equal(found['point'], farthest.label)

    def failures(self, _, found):
        # Recordings of one configuration count once.
        ended = {point.configuration: point for point in reversed(self.points)
                 if point.row['disposition'] == found['outcome']}.values()
        self.count(found['count'], len(ended))
        self.count(found['all'], len({point.configuration for point in self.points}))
        reasons = collections.Counter(point.row['reason'] for point in ended)
        self.count(found['alike'], max(reasons.values()))
        expect_equal(reasons[found['reason']], max(reasons.values()))
        expect(any((point.label, point.row['reason']) == (found['point'], found['reason']) for point in ended),
               'no point has this outcome and reason')

    def tiles(self, _, found):
        runs = collections.defaultdict(list)
        for point in self.points:
            of_point = {f'{in_sentence(message("facet.device"))} H200', f'{message("facet.n")} {point.n_q}',
                        f'{in_sentence(message("field.algorithm"))} {point.algorithm}', *point.problem.split(' · ')}
            if point.has_values and point.br and of_point <= set(found['problem'].split(' · ')):
                runs[point.run].append(point)
        of_map = max(runs.values(), key=len)
        run = next(run for run in self.document['runs'] if run['run'] == of_map[0].run)
        expect(f'{run["run"]} ({run["preset"]})' in found['problem'], 'the map names another run')
        best = min(of_map, key=lambda point: point.time)
        expect_equal(found['tile'], f'{best.br} × {best.bc}')
        self.quantity(found['value'], best.time)
        self.count(found['others'], sum(point.time <= best.quartile(0.75) for point in of_map) - 1)
        self.count(found['problems'], 3 * len(self.maps()) - 1)

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
        self.count(found['problems'], sum(len(of_problem) > 1 or problem not in of_maps
                                          for problem, of_problem in lengths.items()) - 1)

    def summary(self, _, found):
        runs = self.document['runs']
        expect_equal((found['first'], found['last']),
                     (min(run['started_at'] for run in runs), max(run['finished_at'] for run in runs)))
        self.count(found['runs'], len(runs))
        self.count(found['points'], len(self.points))

    def imported(self, _, found):
        self.check_share(found, 'provenance', 'imported')

    def throttled(self, _, found):
        self.check_share(found, 'throttled', 'true')

    def check_share(self, found, key, value):
        with_values = [point for point in self.points if point.has_values]
        self.count(found['points'], sum(point.row[key] == value for point in with_values))
        self.count(found['all'], len(with_values))

    def devices(self, _, found):
        environments = {(environment['app_version'], environment['driver_version'])
                        for environment in self.document['environments']}
        for program, driver in re.findall(r'attnscope ([\d.]+), driver ([\d.]+)\)', found['devices']):
            expect((program, driver) in environments, 'no run has these versions')

    def roofline(self, _, found):
        expect(any(point.problem == found['problem'] for point in self.points), 'no exported point of this problem')

    def no_numbers(self, _, found):
        pass


COUNT = r'\d[\d,]*'
NUMBER = r'-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?'
QUANTITY = rf'{NUMBER} \S+'
TILE = r'\d+ × \d+'
SERIES = rf'\S+ \({TILE}\)'
MEASURED, DERIVED = message('provenance.measured'), message('provenance.derived')
HEADINGS = ['### ' + each for each in (
    pattern('report.bytes_at', device='H200', n=COUNT), pattern('report.times_at', device='H200', n=COUNT),
    pattern('report.bounds_on', device='H200'))]
NOT_PLOTTED = ' ' + pattern('report.problems_not_plotted', problems=COUNT)
ENGLISH = {name: message(f'report.{name}') for name in ('dram_bytes', 'median_time', 'roofline')}
SENTENCES = [
    ('# ' + pattern('report.title', devices='NVIDIA H200'), Report.no_numbers),
    (pattern('report.subtitle', files=r'h200\.attnscope', first=r'\S+', last=r'\S+', runs=COUNT, points=COUNT),
     Report.summary),
    (pattern('report.measured_on'), Report.devices),
    (pattern('report.is_imported', points=COUNT, all=COUNT), Report.imported),
    (pattern('report.is_throttled', points=COUNT, all=COUNT), Report.throttled),
    *((each, Report.heading) for each in HEADINGS),
    (pattern('report.fewer_bytes', series=SERIES, other=SERIES, ratio=NUMBER, own_bytes=QUANTITY, other_bytes=QUANTITY),
     Report.fewer_bytes),
    (pattern('report.faster', series=SERIES, other=SERIES, ratio=NUMBER, own_time=QUANTITY, other_time=QUANTITY),
     Report.faster),
    (pattern('report.stays_memory', series=SERIES, bytes=message('report.by_memory'), n=COUNT), Report.stays_memory),
    (pattern('report.never_memory', series=SERIES, bytes=message('report.by_memory'), first=COUNT, last=COUNT),
     Report.never_memory),
    (pattern('report.leaves_memory', series=SERIES, bytes=message('report.by_memory'), n=COUNT), Report.leaves_memory),
    (pattern('report.residual', percent=rf'{NUMBER}%', points=COUNT), Report.closed_form),
    (pattern('report.ended', count=COUNT, all=COUNT, outcome=r'\S+', alike=COUNT), Report.failures),
    (rf'{ENGLISH["median_time"]} \[\S+\] · (?P<problem>[^.]*)\. {pattern("report.map_bins")} {pattern("report.map_struck")} '
     + pattern('report.map_best', tile=TILE, value=QUANTITY, others=COUNT) + NOT_PLOTTED, Report.tiles),
    (rf'{ENGLISH["dram_bytes"]} · (?P<problem>[^.]*)\. {pattern("report.key")} {pattern("report.key_modeled")}'
     + NOT_PLOTTED, Report.curves),
    (rf'{ENGLISH["median_time"]} · (?P<problem>[^.]*)\. {pattern("report.key")} {pattern("report.key_spread")}'
     + NOT_PLOTTED, Report.curves),
    (rf'{ENGLISH["roofline"]} · NVIDIA H200 · (?P<problem>[^.]*)\. {pattern("report.roofline_key")} '
     + pattern('report.roofline_joined'), Report.roofline),
    (pattern('report.made_by', version=r'0\.1\.0'), Report.no_numbers),
]


def read_table(file):
    with open(file, encoding='utf-8', newline='') as rows:
        return list(csv.DictReader(rows))


def check_sample(program, sample, folder):
    """Returns the lines of a sample's report that differ from its export."""
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
    print(f'{sample}: {report.numbers:,} numbers recomputed')
    expect(report.numbers >= 6000, 'numbers are missing')
    return wrong


def check_links(program, arguments, folder):
    """Returns the links of a report that lead to a row with another number."""
    file = folder / 'links.html'
    outcome = subprocess.run([program, 'report', *map(str, arguments), '-o', file], stderr=subprocess.PIPE, text=True)
    expect(outcome.returncode in (0, PARTIAL), outcome.stderr)
    page = Page(file.read_text(encoding='utf-8'))
    print(f'{" ".join(pathlib.Path(word).name for word in arguments)}: {len(page.links):,} links followed')
    expect(page.links, 'the report has no links')
    return page.check()


def main():
    program, samples = sys.argv[1], pathlib.Path(sys.argv[2])
    csv.field_size_limit(1 << 24)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        wrong = check_sample(program, samples / 'h200.attnscope', folder)
        recorded, baseline, candidate = import_recordings(program, folder)
        both = [samples / 'h200.attnscope', samples / 'h100.attnscope']
        one_run = samples / 'h200-race.attnscope'
        for arguments in (*([each] for each in sorted(samples.glob('h?00*.attnscope')) if 'ceilings' not in each.name),
                          both, [both[0], '--baseline', both[1]], recorded, [candidate, '--baseline', baseline],
                          [one_run, '--filter', 'N>=4096'], [both[0], '--filter', 'preset:quick,tiles']):
            wrong += check_links(program, arguments, folder)
    for each in wrong[:40]:
        print(each)
    print(f'{len(wrong)} lines or links differ')
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
