# SPDX-License-Identifier: Apache-2.0
"""Five recordings of one sweep, imported from tables."""
import itertools
import subprocess

COLUMNS = ('device,algorithm,N,heads,d,br,bc,cache,time_ns,dram_read_bytes,dram_write_bytes,l2_to_sm_bytes,sm_to_l2_bytes,'
           'disposition,reason')
WIDE, FAST = (128, 64), (64, 64)  # WIDE has every N; FAST only the longest, where it is faster


def table(recording):
    lines = [COLUMNS]
    for algorithm, share in (('fa1', 1), ('fa2', 0.5)):
        for n, tile in itertools.chain(((n, WIDE) for n in (512, 1024, 2048)), [(2048, FAST)]):
            time = round(n * n * 0.03 * share * (1 if tile == WIDE else 0.97) * (1 + 0.01 * recording))
            dram = round(n * 16 * 64 * 8 * share)
            lines.append(f'NVIDIA H200,{algorithm},{n},16,64,{tile[0]},{tile[1]},cold,{time},{dram},{dram // 4},'
                         f'{dram * (2 if tile == WIDE else 20)},{dram // 4},ok,')
        lines.append(f'NVIDIA H200,{algorithm},512,16,64,512,512,cold,,,,,,infeasible,too much shared memory')
    return '\n'.join(lines) + '\n'


def import_recordings(program, folder):
    """Returns the files of five recordings, one of the first two, and one of the other three."""
    files = []
    for recording in range(5):
        source = folder / f'recording{recording}.csv'
        source.write_text(table(recording))
        files.append(source.with_suffix('.attnscope'))
        subprocess.run([program, 'import', source, '-o', files[-1]], check=True, stdout=subprocess.DEVNULL)
    sides = (folder / 'baseline.attnscope', files[:2]), (folder / 'candidate.attnscope', files[2:])
    for side, members in sides:
        subprocess.run([program, 'merge', *members, '-o', side], check=True, stdout=subprocess.DEVNULL)
    return files, sides[0][0], sides[1][0]
