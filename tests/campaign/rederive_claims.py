#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Usage: rederive_claims.py ATTNSCOPE SAMPLES_FOLDER. Derives the verdict of every claim of the lesson independently.

Reads each claim card and the output of `attnscope export` and `attnscope ceilings` for the samples
of the lesson. Computes outcomes and all figures of each verdict's table from these data and from closed forms (which the
counters must match), and compares them with the exported page. Uses no code of the program.
Exits with 1 and a list if an outcome differs or a figure is off by more than 1%.
"""
import collections
import html
import json
import math
import operator
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

CLAIMS = pathlib.Path(__file__).resolve().parents[2] / 'assets/lesson/claims'
SAMPLES = ('h200', 'h200-law', 'h200-tiles', 'h200-race', 'h100')  # samples of the lesson
UNITS = {'B': 1, 'kB': 1e3, 'MB': 1e6, 'GB': 1e9, 'KiB': 2**10, 'MiB': 2**20, 'GiB': 2**30,
         'ns': 1, 'µs': 1e3, 'ms': 1e6, 'TFLOP/s': 1e12, '%': 0.01}
PROBLEM = ('pass', 'dtype', 'batch', 'heads_q', 'heads_kv', 'n_q', 'n_k', 'd', 'mask', 'cache', 'dropout',
           'page', 'deterministic')
TILE = ('br', 'bc', 'raster', 'warps', 'stages', 'splits')
COUNTERS = {'dram_settled_bytes': ('dram_read_bytes', 'dram_write_bytes', 'dram_writeback_bytes'),
            'l2_sm_bytes': ('l2_to_sm_bytes', 'sm_to_l2_bytes')}
COMPARE = {':': operator.eq, '=': operator.eq, '<=': operator.le, '>=': operator.ge, '<': operator.lt, '>': operator.gt}
NOT_TESTABLE = 'not-testable'


def key(point, names, **other):
    return tuple(other.get(name, point[name]) for name in names)


def metric(point, name):
    if name not in COUNTERS:
        return point[name]
    values = [point['metrics'].get(counter, {}).get('value') for counter in COUNTERS[name]]
    return None if None in values[:2] else sum(value or 0 for value in values)  # a warm start has no write-back bytes


def flops(point):
    """Returns the FLOPs of the pass: 2 n_q n_k d per matrix product."""
    if point['mask'] != 'full':
        raise LookupError(f'FLOPs with a mask: {point["mask"]}')
    products = {'fwd': 2, 'bwd': 5, 'fwd+bwd': 7}[point['pass']]
    return products * 2 * point['n_q'] * point['n_k'] * point['d'] * point['batch'] * point['heads_q']


def matches(point, words):
    for word in words.split():
        name, how, values = re.fullmatch(r'(\w+)(<=|>=|[:=<>])(\S+)', word).groups()
        name = {'N': 'n_k', 'algo': 'algorithm'}.get(name, name)
        has = point[name]
        if not any(COMPARE[how](has, type(has)(value)) for value in values.split(',')):
            return False
    return True


def run_program(*command):
    environment = os.environ | {'XDG_DATA_HOME': os.devnull}  # without custom texts
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=environment).stdout


class Data:
    def __init__(self, program, files):
        self.points, self.ceilings = [], {}  # ceilings by device
        self.names = {}
        for file in files:
            exported = json.loads(run_program(program, 'export', file, '--json'))
            devices = {device['uuid']: device for device in exported['devices']}
            gpus = {run['run']: devices[run['device_uuid']] for run in exported['runs']}
            self.points += [point | {'gpu': gpus[point['run']], 'uuid': gpus[point['run']]['uuid'], 'place': (file, point['run'])}
                            for point in exported['points']
                            if point['kernel'] == 'all' and point['disposition'] in ('ok', 'no-counters')]
            for row in json.loads(run_program(program, 'ceilings', file, '--json'))['rows']:
                if row['provenance'] == 'measured' and row['device_uuid'] in devices:
                    self.names[row['device_uuid']] = devices[row['device_uuid']]['name']
                    self.ceilings.setdefault(row['device_uuid'], {})[row['ceiling']] = row['value']

    def select(self, card, named=None):
        """Points of an algorithm; 'imported:NAME': imported points."""
        points = [point for point in self.points if matches(point, card.get('points', ''))]
        if named:
            imported, _, name = named.rpartition(':')
            points = [point for point in points
                      if point['algorithm'] == name and (point['provenance'] == 'imported') == bool(imported)]
        return points

    def fastest(self, card, named=None):
        """Fastest point per problem; per run if algorithms are compared, else per GPU."""
        names, best = ('algorithm', *PROBLEM, *(() if named else ('uuid',))), {}
        for point in sorted(self.select(card, named), key=lambda point: point['time_median_ns']):
            best.setdefault((point['place'] if named else None, key(point, names)), point)
        return list(best.values())

    def pairs(self, card):
        """Pairs of both algorithms' fastest points per problem."""
        of_other = {key(point, ('place', *PROBLEM)): point for point in self.fastest(card, card['to'])}
        pairs = [(point, of_other.get(key(point, ('place', *PROBLEM)))) for point in self.fastest(card, card['from'])]
        return [pair for pair in pairs if pair[1]]


# A verdict is an outcome and the figures of its table by label. Cases are pairs of GPU and value.
def within(card, value):
    if 'states' not in card:
        return card.get('low', -math.inf) <= value <= card.get('high', math.inf)
    return abs(value - card['states']) <= card.get('tolerance', 0.1) * abs(card['states'])


def gpus_differ(card, groups):
    """Medians differ by more than the cases of each GPU and the tolerance, for a stated number without GPU."""
    if 'states' not in card and card.get('stated_by') != 'source':
        return False
    medians = [statistics.median(values) for values in groups.values()]
    spread = max(max(values) - min(values) for values in groups.values())
    return max(medians) - min(medians) > max(spread, card.get('tolerance', 0.1) * abs(max(medians)))


def judge_cases(card, cases, unit=1):
    groups = collections.defaultdict(list)
    for gpu, value in cases:
        groups[gpu].append(value)
    figures = {gpu: [unit * statistics.median(values), *(() if len(values) < 2 else (
        unit * min(values), unit * max(values), sum(within(card, value) for value in values), len(values)))]
        for gpu, values in groups.items()}
    named = {gpu: values for gpu, values in groups.items() if card.get('gpu', gpu) in gpu}
    if not named or ('gpu' not in card and gpus_differ(card, groups)):
        return NOT_TESTABLE, figures
    held = [within(card, value) for values in named.values() for value in values]
    return 'held' if all(held) else 'partly' if any(held) else 'refuted', figures


def versus(card, data):
    pairs = [(second['gpu']['name'], metric(first, card['metric']), metric(second, card['metric']))
             for first, second in data.pairs(card)]
    return judge_cases(card, [(gpu, first / second) for gpu, first, second in pairs if first and second])


def doubled(card, data):
    """Compares points that differ only in N by a factor of 2."""
    names = ('place', 'algorithm', *PROBLEM, *TILE)
    points = {key(point, names): point for point in data.select(card) if metric(point, card['metric'])}
    pairs = [(points.get(key(once, names, n_q=2 * once['n_q'], n_k=2 * once['n_k'])), once) for once in points.values()]
    return judge_cases(card, [(once['gpu']['name'], metric(twice, card['metric']) / metric(once, card['metric']))
                              for twice, once in pairs if twice])


def crossover(card, data):
    """Smallest N from which `to` stays faster, for series of at least three N."""
    series, cases = collections.defaultdict(dict), []
    for slow, fast in data.pairs(card):
        group = (fast['gpu']['name'], key(slow, ('place', *PROBLEM), n_q=0, n_k=0))
        series[group][slow['n_k']] = fast['time_median_ns'] < slow['time_median_ns']
    least = card['states'] * (1 - card['tolerance'])
    for (gpu, _), faster in series.items():
        start = min((n for n in faster if all(faster[longer] for longer in faster if longer >= n)), default=math.inf)
        if len(faster) > 2 and (start > min(faster) or start < least):
            cases.append((gpu, start))
    return judge_cases(card, cases)


def least_squares(rows, values):
    """Solves the normal equations by elimination."""
    size = len(rows[0])
    matrix = [[sum(row[i] * row[j] for row in rows) for j in range(size)] +
              [sum(row[i] * value for row, value in zip(rows, values))] for i in range(size)]
    for i in range(size):
        for k in set(range(size)) - {i}:
            factor = matrix[k][i] / matrix[i][i]
            matrix[k] = [a - factor * b for a, b in zip(matrix[k], matrix[i])]
    return [matrix[i][size] / matrix[i][i] for i in range(size)]


def exponent(card, data):
    """Fits the exponents of Theorem 2: tiles Bc = M/4d, Br = min(Bc, d) and M <= Nd; at the DRAM level only points
    whose Q, O, l and m of all heads exceed L2."""
    runs, found = collections.defaultdict(list), []
    for point in data.select(card):
        n, d, memory = point['n_k'], point['d'], 4 * point['d'] * point['bc']
        counted = metric(point, 'dram_settled_bytes' if card['level'] == 'dram' else 'l2_sm_bytes')
        circling = point['batch'] * point['heads_q'] * n * (6 * d + 8)
        is_law = key(point, ('algorithm', 'pass', 'mask', 'br')) == ('fa1', 'fwd', 'full', min(point['bc'], d))
        left_l2 = card['level'] != 'dram' or circling > point['gpu']['l2_bytes']
        if is_law and left_l2 and counted and memory <= n * d:
            runs[point['gpu']['name'], point['place']].append((n, d, memory, counted))
    for (gpu, _), points in runs.items():
        if len(points) >= 8 and all(len(set(values)) > 1 for values in zip(*points)):
            logs = [[math.log(value) for value in point] for point in points]
            slopes = least_squares([[1, *row[:3]] for row in logs], [row[3] for row in logs])
            found.append((gpu, slopes[' NdM'.index(card['of'])]))
    return judge_cases(card, found)


def ceiling(card, data):
    return judge_cases(card, [(data.names[device], of[card['ceiling']] / of[card['over']])
                              for device, of in data.ceilings.items() if card['over'] in of and card['ceiling'] in of])


def over_ridge(card, data):
    ridges = {data.names[device]: of[card['ceiling']] / of['dram_read'] for device, of in data.ceilings.items()}
    verdict, figures = judge_cases(card, [(point['gpu']['name'], flops(point) / metric(point, 'dram_settled_bytes') /
                                           ridges[point['gpu']['name']]) for point in data.fastest(card)
                                          if metric(point, 'dram_settled_bytes')])
    return verdict, figures | {'ridge point, operations for each byte of DRAM': [ridges[gpu] for gpu in sorted(ridges)]}


def l2_bytes(point):
    """SM<->L2 bytes per head; FA1 keeps O, l and m in fp32 between passes and writes a 16-bit O at the end."""
    n, d, passes = point['n_k'], point['d'], math.ceil(point['n_k'] / point['bc'])
    if point['algorithm'] == 'fa1':
        return 2 * n * d * (2 + passes + 1) + 4 * n * d * 2 * passes + 8 * n * (2 * passes + 1)
    return 2 * n * d * (2 + 2 * math.ceil(n / point['br'])) + 4 * n


def extra_bytes(algorithm, n, d):
    """Bytes per head besides Q, K, V and O: naive S and P (16 bits); FA1 l, m and O (fp32); else one fp32 per row."""
    return {'naive': 4 * n * n, 'fa1': 8 * n + 4 * n * d}.get(algorithm, 4 * n)


def softmax_error(card, _):
    """Online softmax of scores 0 to 7 (equal to the values) in blocks of two."""
    most, total, output = -math.inf, 0.0, 0.0
    for block in ((0, 1), (2, 3), (4, 5), (6, 7)):
        rescale = 1 if card['fault'] == 'forget-rescale' else math.exp(most - max(block))
        most = max(block)
        weights = [math.exp(score - most) for score in block]
        total = total * rescale + sum(weights)
        output = output * rescale + sum(weight * score for weight, score in zip(weights, block))
    right = sum(math.exp(s) * s for s in range(8)) / sum(math.exp(s) for s in range(8))
    return judge_cases(card, [('found', abs(output / total - right))])


TESTS = {
    'versus': versus, 'doubled': doubled, 'crossover': crossover, 'exponent': exponent, 'ceiling': ceiling,
    'over-ridge': over_ridge, 'softmax-error': softmax_error,
    'metric': lambda card, data: judge_cases(card, [(p['gpu']['name'], p[card['metric']]) for p in data.fastest(card)],
                                             0.01 if card['metric'].endswith('_pct') else 1),
    'operations': lambda card, _: judge_cases(card, [('found', 1)])}  # S and O in each algorithm


def parse_number(text):
    """Parses a number; returns it in base units, and half of its last digit."""
    word, unit = re.search(r'(-?\d[\d,]*(?:\.\d+)?(?:e-?\d+)?)\s*([^\s,]*)', text.replace('−', '-')).groups()
    unit = UNITS.get(unit, 1)
    mantissa, _, power = word.partition('e')
    digits = int(power or 0) - len(mantissa.partition('.')[2])
    return float(word.replace(',', '')) * unit, 0.5001 * 10 ** digits * unit


def parse_page(text):
    for article in re.findall(r'<article class="claim".*?</article>', text, re.S):
        name, verdict = re.search(r'data-id="claim-([^"]+)" data-outcome="([^"]+)"', article).groups()
        rows = collections.defaultdict(list)
        for row in re.findall(r'<tr>(.*?)</tr>', article, re.S):
            label, value, more = (html.unescape(re.sub('<[^>]*>', '', cell))
                                  for cell in re.findall(r'<t[hd][^>]*>(.*?)</t[hd]>', row, re.S)[:3])
            if label.startswith(('claimed', 'held if', 'give or take')):
                continue
            rows[label].append(value)
            if ' … ' in more:
                range_text, inside = more.split(': ', 1)[1].split(' · ')
                rows[label] += [*range_text.split(' … '), *inside.removesuffix(' as claimed').split(' / ')]
        yield name, (verdict, rows)


def differences(derived, page):
    if derived[0] != page[0]:
        yield f'{page[0]} on the page, {derived[0]} derived'
    for label in sorted({*page[1], *(label for label, values in derived[1].items() if values)}):
        texts, mine = page[1].get(label, []), derived[1].get(label, [])
        if not texts or not mine:
            yield f'"{label}" is {"not derived" if texts else "not on the page"}'
        for place, (value, digit) in enumerate(map(parse_number, texts)):
            against = mine[place:place + 1]
            if mine and not any(abs(value - figure) <= max(0.01 * abs(figure), digit, 1e-12) for figure in against):
                yield f'{label}: {texts[place]} on the page, derived {", ".join(f"{figure:.4g}" for figure in against)}'


def closed_forms(data):
    """Yields counted and allocated bytes with their closed forms, for N divisible by 8 (rows of l or m per sector)."""
    for point in data.points:
        heads, n, d = point['batch'] * point['heads_q'], point['n_k'], point['d']
        whole = point['n_q'] == n and n % 8 == 0 and point['heads_q'] == point['heads_kv']
        if whole and key(point, ('pass', 'mask', 'dtype')) == ('fwd', 'full', 'fp16') and point['provenance'] == 'measured':
            if point['algorithm'] in ('fa1', 'fa2') and metric(point, 'l2_sm_bytes'):
                yield 'bytes moved', point, metric(point, 'l2_sm_bytes'), heads * l2_bytes(point)
            if point['algorithm'] in ('naive', 'fa1', 'fa2', 'fa3'):
                reserved = point['metrics']['memory_bytes']['value'] - heads * 4 * 2 * n * d
                yield 'bytes kept', point, reserved, heads * extra_bytes(point['algorithm'], n, d)


def main():
    program, samples = sys.argv[1:]
    files = [str(pathlib.Path(samples, f'{name}.attnscope')) for name in SAMPLES]
    data, derived, wrong, forms = Data(program, files), {}, [], 0
    for path in sorted(CLAIMS.glob('*.json')):
        card = json.loads(path.read_text(encoding='utf-8'))
        try:
            derived[path.stem] = TESTS[card['test']](card, data)
        except LookupError as unknown:
            wrong.append(f'{path.stem} (test {card["test"]}): not derived (unknown): {unknown}')
    with tempfile.TemporaryDirectory() as folder:
        run_program(program, 'lesson', 'export', '-o', folder, *files)
        page = dict(parse_page(pathlib.Path(folder, 'index.html').read_text(encoding='utf-8')))
    for name in sorted({*page, *derived}):
        if name not in page or not CLAIMS.joinpath(f'{name}.json').exists():
            wrong.append(f'{name}: {"has no card" if name in page else "not on the page"}')
        elif name in derived:
            wrong += [f'{name}: {why}' for why in differences(derived[name], page[name])]
    for what, point, found, form in closed_forms(data):
        forms += 1
        if abs(found - form) > 0.01 * form:
            wrong.append(f'{what}: {found}, by closed form {form}: {key(point, ("algorithm", "n_k", "d", "br", "bc"))}')
    counts = collections.Counter(verdict for verdict, _ in derived.values())
    print(*wrong, sep='\n', end='\n' * bool(wrong))
    print(f'{len(derived)} claims derived: {", ".join(f"{count} {what}" for what, count in counts.items())}; '
          f'{forms} closed forms compared with counters; {len(wrong)} disagreements')
    return 1 if wrong else 0


if __name__ == '__main__':
    sys.exit(main())
