#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Recomputes every number of the sample report from `attnscope export` of the same file, and follows the links of reports.

    recompute_report.py ATTNSCOPE SAMPLES

SAMPLES: folder of the recorded samples. Links are followed in reports of each sample, of two samples, of a comparison of
two, and of five recordings of one sweep and their comparison. The first page of a comparison must equal `compare --json`.

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

from exported_points import Point
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
            if line.startswith('|'):
                wrong += self.check_table('table', [line], self.overview_row)
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
    def title(self, _, found):
        pass

    def date(self, _, found):
        last = max(run['finished_at'] for run in self.document['runs'])
        expect_equal(found['date'], last[:10])

    def answer(self, _, found):
        """Bytes and times of the series at one N; the problem is that of the table below."""
        rows = [point for point in self.points if point.has_values and point.settings('n') == self.overview]
        value = lambda word: re.search(r'[\d.]+', word)[0]
        bytes_of = {NAMES.get(point.algorithm): point.dram for point in rows if point.dram}
        expect_equal(found['bytes_place'], found['place'])
        self.number(found['bytes_ratio'], bytes_of[found['most']] / bytes_of[found['least']])
        self.quantity(found['most_bytes'], max(bytes_of.values()))
        expect_equal(found['most'], max(bytes_of, key=bytes_of.get))
        self.quantity(found['least_bytes'], bytes_of[found['least']])
        self.number(value(found['least_bytes']), min(bytes_of.values()) / UNITS[found['least_bytes'].split()[1]])
        times = collections.defaultdict(list)
        for point in rows:
            times[NAMES.get(point.algorithm)].append(point.time)
        check_any(itertools.product(times[found['series']], times[found['slowest']]), lambda pair: (
            self.quantity(found['time'], pair[0]), self.quantity(found['slowest_time'], pair[1]),
            self.number(found['ratio'], pair[1] / pair[0])))

    def overview_row(self, _, line):
        cells = [cell.strip() for cell in line.strip('|').split('|')]
        algorithm, tile, time, slower, rate, dram, more, roof = cells
        points = [point for point in self.points if point.has_values and point.settings('n') == self.overview and
                  (point.algorithm, f'{point.br}x{point.bc}') == (algorithm, tile)]
        texts = [line for line in self.lines if line.startswith('| ') and re.search(r'\d', line)]
        first = [cell.strip() for cell in texts[0].strip('|').split('|')]

        def check(point):
            self.quantity(time, point.time)
            self.number(rate, point.tflops)
            self.quantity(dram, point.dram)
            name, share = roof.rsplit(' ', 1)
            nearest, fraction = point.nearest_ceiling(self.ceilings)
            expect_equal(name, nearest)
            self.number(share.strip('%'), 100 * fraction)

        check_any(points, check)
        least = lambda column: min(self.base(row[column]) for row in self.overview_cells())
        for printed, text, column in ((slower, time, 2), (more, dram, 5)):
            expect(abs(float(printed) / (self.base(text) / least(column)) - 1) < 0.02, f'ratio {printed}')
            self.numbers += 1
        expect_equal(first[3], '1.00')

    @staticmethod
    def base(text):
        word, unit = text.split()
        return float(word.replace(',', '')) * UNITS[unit]

    def overview_cells(self):
        lines = [line for line in self.lines if line.startswith('| ') and re.search(r'\d', line)]
        return [[cell.strip() for cell in line.strip('|').split('|')] for line in lines]

    @property
    def overview(self):
        """The settings that the rows of the first page share."""
        return next(re.fullmatch(OVERVIEW, line)['settings'] for line in self.lines if re.fullmatch(OVERVIEW, line))

    def overview_caption(self, _, found):
        expect(any(point.settings('n') == found['settings'] for point in self.points), 'no exported point has these settings')

    @staticmethod
    def origin(word, point, depends_on_clocks=True):
        if depends_on_clocks and point.row['throttled'] == 'true':
            return message('report.origin_throttled', origin=word)
        return word

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

    def check_bound(self, _, found, check_roofs):
        problem = next(found['problem'] for line in self.lines for found in [re.fullmatch(ROOFLINE, line)] if found)
        matching = [point for point in self.points if point.problem == problem and
                    point.has_values and f'{NAMES.get(point.algorithm)} ({point.br}x{point.bc})' == found['series']]

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
            if point.has_values and point.br and point.settings('algorithm', 'n') == found['problem']:
                runs[point.run].append(point)
        of_map = max(runs.values(), key=len)
        run = next(run for run in self.document['runs'] if run['run'] == of_map[0].run)
        expect(f'{run["run"]} ({run["preset"]})' in found['runs'], 'the map names another run')
        best = min(of_map, key=lambda point: point.time)
        expect_equal(found['tile'], f'{best.br}x{best.bc}')
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

    def machine(self, _, found):
        runs = self.document['runs']
        dates = sorted({run[name][:10] for run in runs for name in ('started_at', 'finished_at')})
        expect_equal(found['dates'], dates[0] if len(dates) == 1 else message('report.dates', first=dates[0], last=dates[-1]))
        self.count(found['runs'], len(runs))
        self.count(found['points'], len(self.points))
        environments = {(environment['app_version'], environment['driver_version'], environment['nvrtc_version'])
                        for environment in self.document['environments']}
        for driver, cuda, program in re.findall(r'driver ([\d.]+), CUDA ([\d.]+), attnscope ([\d.]+)\)', found['devices']):
            expect((program, driver, cuda) in environments, 'no run has these versions')
            self.numbers += 3

    def conditions(self, _, found):
        with_values = [point for point in self.points if point.has_values]
        clocks = [round(point.number('sm_clock_hz') / 1e6) for point in with_values if point.number('sm_clock_hz')]
        expect_equal(found['range'], message('report.range', low=min(clocks), high=max(clocks)))
        for name, key, value in (('throttled', 'throttled', 'true'), ('imported', 'provenance', 'imported')):
            self.count(found[name], sum(point.row[key] == value for point in with_values))
            self.count(found[f'{name}_all'], len(with_values))
        self.count(found['verified'], sum(bool(point.row['max_abs_error']) for point in with_values))
        rounds = {row for row, in self.database.execute("SELECT rounds FROM runs WHERE provenance = 'measured'")}
        expect_equal({int(found['rounds'])}, rounds)

    def roofline(self, _, found):
        expect(any(point.problem == found['problem'] for point in self.points), 'no exported point of this problem')

    def no_numbers(self, _, found):
        pass


COUNT = r'\d[\d,]*'
NUMBER = r'-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?'
QUANTITY = rf'{NUMBER} \S+'
TILE = r'\d+x\d+'
SERIES = rf'\S+ \({TILE}\)'
DERIVED = message('provenance.derived')
NOT_PLOTTED = ' ' + pattern('report.problems_not_plotted', problems=COUNT)
ENGLISH = {name: message(f'report.{name}') for name in ('dram_bytes', 'median_time', 'roofline')}
ROOFLINE = (rf'{ENGLISH["roofline"]} · H200 · (?P<problem>[^.]*)\. {pattern("report.roofline_key")} '
            + pattern('report.roofline_joined'))
OVERVIEW = pattern('report.series_caption') + ' ' + pattern('compare.all_rows')


def renamed(text, **names):
    """A pattern whose groups have other names, so that it can follow another one."""
    for old, new in names.items():
        text = text.replace(f'(?P<{old}>', f'(?P<{new}>')
    return text


SENTENCES = [
    ('# ' + pattern('report.title', devices='NVIDIA H200'), Report.title),
    (r'(?P<date>\d{4}-\d\d-\d\d)', Report.date),
    (renamed(pattern('report.most_bytes', device='H200', place='N ' + COUNT, ratio=NUMBER, most_bytes=QUANTITY, least_bytes=QUANTITY),
             device='bytes_device', place='bytes_place', ratio='bytes_ratio') + ' '
     + pattern('report.fastest', device='H200', place='N ' + COUNT, ratio=NUMBER, time=QUANTITY, slowest_time=QUANTITY), Report.answer),
    (OVERVIEW, Report.overview_caption),
    (pattern('report.measured_on', runs=COUNT, points=COUNT), Report.machine),
    (' '.join((pattern('report.clocks'), renamed(pattern('report.is_throttled', points=COUNT, all=COUNT), points='throttled',
                                                 all='throttled_all'),
               renamed(pattern('report.rounds', range=COUNT), range='rounds'),
               renamed(pattern('report.is_verified', points=COUNT), points='verified'),
               renamed(pattern('report.is_imported', points=COUNT, all=COUNT), points='imported', all='imported_all'))),
     Report.conditions),
    (pattern('report.stays_memory', series=SERIES, bytes=message('report.by_memory'), n=COUNT), Report.stays_memory),
    (pattern('report.never_memory', series=SERIES, bytes=message('report.by_memory'), first=COUNT, last=COUNT),
     Report.never_memory),
    (pattern('report.leaves_memory', series=SERIES, bytes=message('report.by_memory'), n=COUNT), Report.leaves_memory),
    (pattern('report.residual', percent=rf'{NUMBER}%', points=COUNT), Report.closed_form),
    (pattern('report.ended', count=COUNT, all=COUNT, outcome=r'\S+', alike=COUNT), Report.failures),
    (rf'{ENGLISH["median_time"]} \[\S+\] · (?P<problem>[^.·]*) · (?P<runs>[^.]*)\. {pattern("report.map_bins")} '
     + pattern('report.map_struck') + ' ' + pattern('report.map_best', tile=TILE, value=QUANTITY, others=COUNT) + NOT_PLOTTED,
     Report.tiles),
    (rf'{ENGLISH["dram_bytes"]} · (?P<problem>[^.]*)\. {pattern("report.key")} {pattern("report.key_modeled")}'
     + NOT_PLOTTED, Report.curves),
    (rf'{ENGLISH["median_time"]} · (?P<problem>[^.]*)\. {pattern("report.key")} {pattern("report.key_spread")}'
     + NOT_PLOTTED, Report.curves),
    (ROOFLINE, Report.roofline),
    (re.escape(f'{message("report.model_title")}. {message("report.model_key")}'), Report.no_numbers),
    ('- ' + pattern('report.files', files=r'h200\.attnscope'), Report.no_numbers),
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


def check_comparison(program, baseline, candidate, folder):
    """Returns the rows of a comparison's first page that differ from `attnscope compare`, or do not divide to their ratio."""
    subprocess.run([program, 'report', candidate, '--baseline', baseline, '-o', folder / 'comparison.md'], check=True)
    compared = subprocess.run([program, 'compare', baseline, '--candidate', candidate, '--json'], check=True,
                              stdout=subprocess.PIPE)
    document = json.loads(compared.stdout)
    lines = [html.unescape(re.sub(r'\\(.)', r'\1', line))
             for line in (folder / 'comparison.md').read_text(encoding='utf-8').splitlines()]
    expect(any(line.split(': ', 1)[1:] == document['head'].split(': ', 1)[1:] for line in lines), 'another first line')
    table = [[cell.strip() for cell in line.strip('|').split('|')] for line in lines if line.startswith('|')]
    wrong = []
    for cells in table[2:]:
        row = dict(zip(table[0], cells))
        ratio, low, high = (float(word) for word in re.findall(r'[\d.]+', row['Ratio [95% CI]'])[:3])
        times = [Report.base(' '.join(cell.split()[:2])) for cell in cells[-2:]]
        matching = [each for each in document['rows'] if each['verdict'] == row['Verdict'] and
                    abs(each['ratio'] - ratio) <= 0.00051 and abs(each['ratio_low'] - low) <= 0.00051 and
                    abs(each['ratio_high'] - high) <= 0.00051 and
                    all(abs(each[f'{side}_compared_ns'] / time - 1) < 0.0006 for side, time in zip(('baseline', 'candidate'), times))]
        if not matching or abs(times[1] / times[0] - ratio) > 0.0016:
            wrong.append(f'comparison, row {cells}')
    expect(len(table) == 10, 'the first page shows eight rows')
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
        wrong += check_comparison(program, samples / 'h100.attnscope', samples / 'h200.attnscope', folder)
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
