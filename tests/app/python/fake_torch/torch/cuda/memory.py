# SPDX-License-Identifier: Apache-2.0
current = None


class CUDAPluggableAllocator:
    def __init__(self, path, allocate, free):
        self.names = path, allocate, free
        self.record_stream = None

    def allocator(self):
        return self

    def set_record_stream_fn(self, address):
        self.record_stream = address


def change_current_allocator(allocator):
    global current
    current = allocator
