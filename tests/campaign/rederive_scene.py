#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Usage: rederive_scene.py ATTNSCOPE SAMPLES_FOLDER. Derives the data of the lesson's drawing independently.

Compares every curve, decoding and backward value in the exported page with `attnscope export --json` of the samples,
and the paper's values with its figure 2. Uses no code of the program. Exits with 1 and a list of differences.
"""
import json
import math
import pathlib
import re
import subprocess
import sys
import tempfile

SAMPLES = ('h200', 'h200-law', 'h200-tiles', 'h200-race')  # samples of the lesson
PAPER = {'naive': {'dram': 40.3, 'time': 41.7}, 'fa1': {'dram': 4.4, 'time': 7.3}}  # Dao et al. 2022, figure 2 left
COUNTERS = {'dram': ('dram_read_bytes', 'dram_write_bytes', 'dram_writeback_bytes'), 'sm': ('l2_to_sm_bytes', 'sm_to_l2_bytes')}


def exported(program, *arguments):
    return subprocess.run([program, *arguments], check=True, capture_output=True, text=True).stdout


def metric(point, name):
    if name == 'ns':
        return point['time_median_ns']
    values = [point['metrics'].get(counter, {}).get('value') for counter in COUNTERS[name]]
    return None if None in values[:2] else sum(value or 0 for value in values)


def fastest(points, **problem):
    """Returns the fastest point of the problem that has the counters of its provenance, with its own kernels."""
    found = [p for p in points if all(p[name] == value for name, value in problem.items()) and p['time_median_ns']]
    whole = [p for p in found if p['kernel'] == 'all']
    return min(whole, key=lambda p: p['time_median_ns']) if whole else None


def check(errors, what, shown, expected):
    if shown is None and expected is None:
        return
    if shown is None or expected is None or not math.isclose(shown, expected, rel_tol=1e-9):
        errors.append(f'{what}: shown {shown}, expected {expected}')


def check_curves(errors, curves, points):
    batch, heads = curves['of']['batch'], curves['of']['heads']
    same = {'pass': 'fwd', 'mask': 'full', 'dtype': 'fp16', 'd': 64, 'batch': batch, 'heads_q': heads, 'heads_kv': heads}
    for lane in curves['lanes']:
        for n, row in zip(curves['lengths'], lane['rows']):
            point = fastest(points, algorithm=lane['name'], n_q=n, n_k=n, **same)
            if not row:
                continue
            for name in ('ns', 'dram'):
                check(errors, f'{lane["name"]} N {n} {name}', row[name], metric(point, name))
            check(errors, f'{lane["name"]} N {n} flops', row['flops'], 4 * n * n * 64 * batch * heads)
    for n, ns in zip(curves['lengths'], curves['eager']):
        point = fastest(points, algorithm='torch-eager', n_q=n, n_k=n, **same)
        check(errors, f'PyTorch eager N {n}', ns, point and point['time_median_ns'])
        least = 4 * n * 64 * 2 * batch * heads + 4 * n * batch * heads
        shown = curves['least'][curves['lengths'].index(n)]
        if not 0 < shown <= least:
            errors.append(f'minimum at N {n}: {shown}')


def check_lengths(errors, what, part, points, **problem):
    for each in part['lengths']:
        for name, shown in each['of'].items():
            n_q = 1 if what == 'decode' else each['n']
            point = fastest(points, algorithm=name, n_q=n_q, n_k=each['n'], d=part['d'], dtype='fp16', mask='full', **problem)
            for value in ('ns', 'dram', 'sm'):
                check(errors, f'{what} {name} N {each["n"]} {value}', shown[value], metric(point, value))


def check_blocks(errors, decode):
    for each in decode['lengths']:
        check(errors, 'blocks without splits', each['of']['fa2']['blocks'], decode['heads_q'] * decode['batch'])
        if each['of']['splitkv']['blocks'] % decode['heads_kv']:
            errors.append(f'blocks of split-KV at {each["n"]} are not a multiple of the K/V heads')


def main():
    program, samples = sys.argv[1:]
    files = [str(pathlib.Path(samples) / f'{name}.attnscope') for name in SAMPLES]
    points = [point for file in files for point in json.loads(exported(program, 'export', '--json', file))['points']]
    with tempfile.TemporaryDirectory() as folder:
        exported(program, 'lesson', 'export', '-o', folder, *files)
        page = (pathlib.Path(folder) / 'index.html').read_text(encoding='utf-8')
    scene = json.loads(re.search(r'id="scene">(.*?)</script>', page, re.S)[1])
    errors = []
    if len(scene['curves']['lanes']) != 4 or not scene['decode'] or not scene['backward']:
        errors.append('curves, decoding or the backward pass are missing')
    check_curves(errors, scene['curves'], points)
    decode, backward = scene['decode'], scene['backward']
    check_lengths(errors, 'decode', decode, points, heads_q=decode['heads_q'], heads_kv=decode['heads_kv'], batch=decode['batch'])
    check_blocks(errors, decode)
    check_lengths(errors, 'backward', backward, points, **{'pass': 'bwd'}, heads_q=backward['heads_q'], batch=backward['batch'])
    for name, values in PAPER.items():
        for what, value in values.items():
            check(errors, f'paper {name} {what}', scene['paper'][name][what]['paper'], value)
    print('\n'.join(errors) or 'all values derived again')
    return 1 if errors else 0


if __name__ == '__main__':
    sys.exit(main())
