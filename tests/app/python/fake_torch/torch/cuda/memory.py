# SPDX-License-Identifier: Apache-2.0
current = None


class CUDAPluggableAllocator:
    def __init__(self, path, allocate, free):
        self.names = path, allocate, free


def change_current_allocator(allocator):
    global current
    current = allocator
